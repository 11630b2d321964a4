// Clawmark in the host's context-engine slot, in both modes: a long conversation with facts planted
// in it, tools, resets, a restart and a compaction. Requests stay flat and keep their beginning,
// every fact is found again, nothing is missing from the log, and a strict provider has nothing to
// refuse. Both modes run at the same time, each with its own gateway and daemon.
//
//   CLAWMARK_E2E_TURNS=300   the length of the conversation (60), with 40 facts; from 200 on the
//                            same conversation is held on the host's own engine, too
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import path from "node:path";
import { World, systemOf } from "./support/world.mjs";
import { until } from "./support/process.mjs";
import { ADA, converse, figuresOf, lostFacts, missingFromLog, read, tell } from
  "./support/conversation.mjs";

const TURNS = Number(process.env.CLAWMARK_E2E_TURNS || 60);
const LONG = TURNS >= 200;
const FACTS = LONG ? 40 : 10;
const part = (share) => Math.floor(TURNS * share);
const PLAN = { turns: TURNS, facts: FACTS, resets: [part(0.87), part(0.95)], restart: part(0.35),
  compact: part(0.5) };
const LIFE = { timeout: (300 + TURNS * 12) * 1000 };
const TAIL = 6;

const MODES = LONG ? ["recursive", "world", "the host's own"] : ["recursive", "world"];
const runs = new Map(); // mode → {world, done}

async function start(mode) {
  const ours = mode !== "the host's own";
  const world = await World.create({ telegram: { owner: ADA.from },
    plugin: { enabled: true, hooks: { allowConversationAccess: true },
      config: { timeoutMs: 1500, ...(ours && { contextMode: mode, freshTailCount: TAIL }) } },
    ...(ours && { slots: { contextEngine: "clawmark" } }) });
  if (mode === "world") {
    Object.assign(world.env, { CLAWMARK_EXTRACT_URL: world.model.url,
      CLAWMARK_EXTRACT_MODEL: "scripted-1" });
  }
  await world.startDaemon();
  await world.startGateway();
  return world;
}

before(async () => {
  for (const mode of MODES) {
    const world = start(mode);
    runs.set(mode, { world, done: world.then((ready) => converse(ready, PLAN)) });
    if (LONG) await runs.get(mode).done; // two cores
  }
  await Promise.all([...runs.values()].map(({ done }) => done));
}, { timeout: LIFE.timeout * MODES.length });
after(async () => {
  for (const { world } of runs.values()) await (await world).destroy();
});

const figures = new Map();

for (const mode of MODES.slice(0, 2)) {
  test(`${mode}: requests stay flat, and begin with the one before`, async (t) => {
    const { done } = runs.get(mode);
    const { first, notes } = await done;
    assert.equal(first.length, TURNS);
    const got = figuresOf(first);
    figures.set(mode, got);
    t.diagnostic(tell(mode, got));
    t.diagnostic(`the host on its commands: ${JSON.stringify(notes)}`);
    // A short conversation has as many resets and cuts as a long one.
    assert.ok(got.prefix.median >= 0.95 && got.prefix.overall >= (LONG ? 0.95 : 0.9),
      tell(mode, got));
    // What is said in 50 turns is what may stand beside the system prompt, however long it lasts.
    const grown = got.most - got.tokens[0];
    const ofFifty = Math.round((got.tokens[12] - got.tokens[2]) * 5);
    assert.ok(grown <= ofFifty * 1.6 + 500, `${grown} more than the first, ${ofFifty} in 50 turns`);
    const newest = first.map((body) => JSON.stringify(body.messages.slice(-3)));
    assert.ok(newest.every((text, n) => /The code of shed|Turn /.test(text), `newest word`));
  });

  test(`${mode}: what is left out is named, and every planted fact is found by a tool`,
    async () => {
      const { done, world } = runs.get(mode);
      const { first } = await done;
      await (await world).admin("reconcile", { wait: true });
      const noted = first.filter((body) => systemOf({ body }).includes(
        "Earlier messages of this conversation are not shown here"));
      assert.ok(noted.length > 0, "something was left out, and said to be");
      assert.deepEqual(await lostFacts(await world, PLAN), []);
    }, LIFE);

  test(`${mode}: the log has every message, every text, and the host none to deliver`,
    async () => {
      const world = await runs.get(mode).world;
      await until("all is read", async () => {
        await world.admin("reconcile", { wait: true });
        return missingFromLog(world).missing.length === 0;
      }, { timeoutMs: 60_000, everyMs: 500 }).catch((error) => {
        const { missing } = missingFromLog(world);
        throw new Error(`${error.message}: ${missing.length} missing, ${missing.slice(0, 5)}`);
      });
      assert.ok(missingFromLog(world).stored >= TURNS * 2);
      const { value: status } = await world.ask("/v1/status");
      assert.equal(status.plugin.context_mode, mode);
      assert.deepEqual(status.retention, { setting: "auto", keeps_all: true,
        events_to_look_at: 0 });
      assert.ok(status.counts.vault_bodies > 0);
      const outbox = path.join(world.stateDir, "agents/main/agent/openclaw-agent.sqlite");
      const failed = "SELECT last_error FROM context_engine_turn_outbox WHERE last_error <> ''";
      assert.deepEqual(read(outbox, failed), []);
      const log = world.gateway.text();
      assert.doesNotMatch(log, /degraded to "legacy"|context engine assemble failed|quarantin/);
      assert.deepEqual(world.model.faults, []);
    }, LIFE);
}

test("world: summaries stand for what is older, and the daemon's absence for nothing", async () => {
  const world = await runs.get("world").world;
  const { first } = await runs.get("world").done;
  assert.ok(first.some((body) => JSON.stringify(body.messages).includes("They went on about the "
    + "garden")), "a summary was shown");
  await world.stopDaemon();
  const { requests, answer } = await world.say("Still there?", { ...ADA,
    steps: [{ say: "Still here." }] });
  assert.equal(answer, "Still here.");
  assert.doesNotMatch(JSON.stringify(requests[0].body.messages), /They went on about the garden/);
  await world.startDaemon();
  await until("the daemon is back", () => world.ask("/v1/status").then(({ ok }) => ok));
}, LIFE);

if (LONG) {
  test("beside the host's own engine", async (t) => {
    const { first } = await runs.get("the host's own").done;
    const own = figuresOf(first);
    for (const mode of MODES.slice(0, 2)) t.diagnostic(tell(mode, figures.get(mode)));
    t.diagnostic(tell("the host's own engine", own));
    assert.ok(figures.get("recursive").most < own.most);
  });
}
