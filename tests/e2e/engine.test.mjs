// Clawmark in the host's context-engine slot: long conversations stay flat, the model is told what
// it does not see and can reach it, and nothing is lost. One gateway and one daemon for the file.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { World, systemOf, toolResultsOf } from "./support/world.mjs";
import { until } from "./support/process.mjs";

const TAIL = 6;
const TURNS = 28;
const SESSION = "agent:main:dashboard:long";

let world;
before(async () => {
  world = await World.create({
    plugin: { enabled: true, hooks: { allowConversationAccess: true },
      config: { timeoutMs: 1500, freshTailCount: TAIL } },
    slots: { contextEngine: "clawmark" },
  });
  await world.startDaemon();
  await world.startGateway();
}, { timeout: 400_000 });
after(() => world?.destroy());

const textOf = ({ content }) => (typeof content === "string" ? content
  : content.map((part) => part.text ?? "").join(""));

function read(file, sql, ...values) {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return db.prepare(sql).all(...values);
  } finally {
    db.close();
  }
}

/** What the person said, without the host's own notes in that role. */
const saidIn = ({ body }) => body.messages.filter(({ role }) => role === "user").map(textOf)
  .filter((text) => /Turn \d+:|walnut/.test(text));

/** The daemon has read everything there is. */
const caughtUp = () => world.admin("reconcile", { wait: true });

test("a long conversation stays flat, and its beginning is reached by a tool", async () => {
  const sizes = [];
  for (let n = 0; n < TURNS; n += 1) {
    const text = n === 0 ? "The code of the shed is walnut-7431, keep it in mind."
      : `Turn ${n}: ${"about the garden and what grows in it. ".repeat(20)}`;
    const { requests } = await world.turn(text, { session: SESSION,
      steps: [{ say: `Noted ${n}.` }] });
    const said = saidIn(requests[0]);
    sizes.push(said.length);
    const newest = n === 0 ? "walnut-7431" : `Turn ${n}:`;
    assert.ok(said.some((message) => message.includes(newest)), newest);
  }
  const most = Math.max(...sizes);
  assert.ok(most < TURNS, `all ${most} turns are in one request`);

  await caughtUp();
  const { requests } = await world.turn("What was the code of the shed again?", { session: SESSION,
    steps: [{ calls: [{ name: "clawmark_search", arguments: { query: "code of the shed" } }] },
      { say: "walnut-7431" }] });
  assert.match(toolResultsOf(requests.at(-1)).at(-1), /walnut-7431/);
}, { timeout: 600_000 });

test("the note about the history is the same in the next turn", async () => {
  const notes = [];
  for (const text of ["And the roses?", "And the hedge?"]) {
    const { requests } = await world.turn(text, { session: SESSION, steps: [{ say: "Yes." }] });
    notes.push(/Earlier messages of this conversation[^]*?from them\./
      .exec(systemOf(requests[0]))?.[0]);
  }
  assert.match(notes[0] ?? "", /more than \d+ messages are stored outside this context/);
  assert.equal(notes[0], notes[1]);
}, { timeout: 200_000 });

test("every turn is in the log once, and the host has none left to deliver", async () => {
  const count = async () => {
    await caughtUp();
    return { ...read(world.in("memory.db"), "SELECT count(*) AS n, count(DISTINCT entry_id) AS ids "
      + "FROM messages WHERE session_key = ? AND role = 'user' AND state = 'active'", SESSION)[0] };
  };
  await until("all turns are read", async () => (await count()).n >= TURNS + 3);
  assert.deepEqual(await count(), { n: TURNS + 3, ids: TURNS + 3 });
  const outbox = path.join(world.stateDir, "agents/main/agent/openclaw-agent.sqlite");
  assert.deepEqual(read(outbox, "SELECT last_error FROM context_engine_turn_outbox"), []);
  assert.doesNotMatch(world.gateway.text(), /degraded to "legacy"|context engine assemble failed/);
  assert.doesNotMatch(world.gateway.text(), /quarantin/);
});

test("with the daemon stopped the context is as flat, and the turn goes on", async () => {
  await world.stopDaemon();
  const { requests, answer } = await world.turn("Still there?", { session: SESSION,
    steps: [{ say: "Still here." }] });
  assert.equal(answer, "Still here.");
  assert.ok(saidIn(requests[0]).length < TURNS);
  await world.startDaemon();
  await until("the daemon is back", () => world.ask("/v1/status").then(({ ok }) => ok));
}, { timeout: 200_000 });
