import assert from "node:assert/strict";
import test from "node:test";
import plugin from "../index.js";
import { Engine, EngineMemory } from "../engine/engine.js";
import { manifestText, roundDown } from "../engine/manifest.js";
import { messageTokens } from "../engine/tokens.js";
import { Host } from "./support/host.mjs";
import { Server, scratchSocket, until } from "./support/server.mjs";

const COUNTS = { protocol: 1, messages: 847, sessions: 12, oldest_day: "2026-03-03" };
const SESSION = { sessionId: "s-1", sessionKey: "agent:main:main" };

const talk = (turns, text = "hello") =>
  Array.from({ length: turns }, (_, i) => [
    { role: "user", content: `${i}: ${text}`, timestamp: 1_790_000_000_000 + i },
    { role: "assistant", content: [{ type: "text", text: `yes ${i}` }] },
  ]).flat();

/** A host with the plugin, and the engine as the host makes it for each turn. */
async function world(t, script = () => COUNTS) {
  const server = await Server.start(t, ({ path }) =>
    path === "/v1/manifest" ? script() : { protocol: 1 },
  );
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } }).load(plugin);
  return { server, host, engine: () => host.engines.get("clawmark")({}) };
}

test("declares what the newest host asks of an engine, else the turn goes past it", async (t) => {
  const { engine } = await world(t);
  const made = engine();
  assert.equal(made.info.id, "clawmark");
  assert.equal(made.info.ownsCompaction, true);
  assert.equal(made.info.transcriptSemantics.currentTurnFence, "before-current-turn-entry-v1");
  assert.equal(made.info.transcriptSemantics.turnAdvancementIdempotency, "atomic-idempotent-v1");
  for (const name of [
    "bootstrap",
    "ingest",
    "assemble",
    "compact",
    "commitTurn",
    "maintain",
    "dispose",
  ]) {
    assert.equal(typeof made[name], "function", name);
  }
});

test("a turn of the newest host: the newest messages and a note about the rest", async (t) => {
  const { engine, server } = await world(t);
  const turn = engine();
  assert.deepEqual(await turn.bootstrap(SESSION), { bootstrapped: true, importedMessages: 0 });
  const tools = new Set(["clawmark_search", "rc_grep", "exec"]);
  const made = await turn.assemble({
    ...SESSION,
    messages: talk(200),
    tokenBudget: 50_000,
    availableTools: tools,
  });
  assert.equal(made.messages.length, 20);
  assert.equal(made.messages.at(-1).content[0].text, "yes 199");
  assert.match(made.systemPromptAddition, /more than 500 messages in more than 10 conversations/);
  assert.match(made.systemPromptAddition, / since 2026-03-03\./);
  assert.match(made.systemPromptAddition, /clawmark_search or rc_grep/);
  assert.doesNotMatch(made.systemPromptAddition, /rc_peek/);
  assert.deepEqual(await turn.commitTurn({ ...SESSION, advancementKey: "k", messages: [] }), {
    status: "committed",
  });
  assert.deepEqual(await engine().commitTurn({ ...SESSION, advancementKey: "k", messages: [] }), {
    status: "duplicate",
  });
  await turn.dispose();
  await until(() => server.requests.find(({ path }) => path === "/v1/notify"));
  assert.equal(server.requests.filter(({ path }) => path === "/v1/notify").length, 1);
});

test("the next turn begins with the very same messages", async (t) => {
  const { engine } = await world(t);
  const first = await engine().assemble({ ...SESSION, messages: talk(200), tokenBudget: 50_000 });
  const second = await engine().assemble({ ...SESSION, messages: talk(201), tokenBudget: 50_000 });
  assert.deepEqual(second.messages.slice(0, first.messages.length), first.messages);
  assert.equal(second.systemPromptAddition, first.systemPromptAddition);
});

test("the older interface: the newest message is in the list, and stays", async (t) => {
  const { engine } = await world(t);
  const messages = [...talk(50), { role: "user", content: "now?" }];
  const made = await engine().assemble({ ...SESSION, messages, tokenBudget: 120 });
  assert.equal(made.messages.at(-1).content, "now?");
  assert.deepEqual(await engine().ingest({ ...SESSION, message: messages[0] }), {
    ingested: false,
  });
  assert.deepEqual(await engine().ingestBatch({ ...SESSION, messages }), { ingestedCount: 0 });
});

test("whatever the budget, messages and note together stay within it", async (t) => {
  const { engine } = await world(t);
  for (const tokenBudget of [1, 20, 100, 500, 3000, 100_000]) {
    const made = await engine().assemble({
      ...SESSION,
      sessionId: `b-${tokenBudget}`,
      messages: talk(300, "word ".repeat(30)),
      tokenBudget,
    });
    assert.ok(made.estimatedTokens <= tokenBudget, `${made.estimatedTokens} > ${tokenBudget}`);
    const sum = made.messages.reduce((n, message) => n + messageTokens(message), 0);
    assert.ok(sum <= made.estimatedTokens);
  }
});

test("without the service the context is as flat, without a note, and soon", async (t) => {
  const host = new Host({ pluginConfig: { socketPath: scratchSocket(t) } }).load(plugin);
  const started = performance.now();
  const made = await host.engines
    .get("clawmark")({})
    .assemble({
      sessionId: "n",
      sessionKey: "agent:main:none",
      messages: talk(100),
      tokenBudget: 9000,
    });
  assert.ok(performance.now() - started < 5000);
  assert.equal(made.messages.length, 20);
  assert.equal(made.systemPromptAddition, undefined);
});

test("an incognito conversation is not spoken of to the service", async (t) => {
  const { engine, server } = await world(t);
  const incognito = { sessionId: "i", sessionKey: "agent:main:incognito-7" };
  const made = await engine().assemble({ ...incognito, messages: talk(30), tokenBudget: 9000 });
  await engine().commitTurn({ ...incognito, advancementKey: "i" });
  assert.equal(made.systemPromptAddition, undefined);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(server.requests.length, 0);
});

test("compaction shortens the next context, and in the end says that it cannot", async (t) => {
  const { engine } = await world(t);
  const ask = {
    ...SESSION,
    sessionId: "compacted",
    messages: talk(300, "word ".repeat(100)),
    tokenBudget: 4000,
  };
  const before = await engine().assemble(ask);
  const idle = await engine().compact({ ...ask, currentTokenCount: 100 });
  assert.deepEqual([idle.ok, idle.compacted], [true, false]);
  const done = await engine().compact({ ...ask, force: true });
  assert.deepEqual([done.ok, done.compacted], [true, true]);
  const after = await engine().assemble(ask);
  assert.ok(
    after.estimatedTokens <= before.estimatedTokens / 2 + 100,
    `${before.estimatedTokens} → ${after.estimatedTokens}`,
  );
  assert.ok(after.messages.length > 0);
  let last = done;
  for (let n = 0; n < 10; n += 1) last = await engine().compact({ ...ask, force: true });
  assert.deepEqual([last.ok, last.compacted], [false, false]);
});

test("two sessions do not share their beginnings, and a reset begins anew", async () => {
  const memory = new EngineMemory();
  const link = { ask: async () => ({ ok: false }), hint: async () => {} };
  const engine = () =>
    new Engine({
      link,
      config: { tailMessages: 4, timeoutMs: 50 },
      logger: {},
      version: "0",
      memory,
    });
  const one = await engine().assemble({
    sessionId: "1",
    messages: talk(50, "one"),
    tokenBudget: 9000,
  });
  const two = await engine().assemble({
    sessionId: "2",
    messages: talk(50, "two"),
    tokenBudget: 9000,
  });
  assert.match(one.messages[0].content, /one/);
  assert.match(two.messages[0].content, /two/);
  const fresh = await engine().assemble({
    sessionId: "1",
    messages: talk(1, "after the reset"),
    tokenBudget: 9000,
  });
  assert.equal(fresh.messages.length, 2);
});

test("the note changes seldom: counts are rounded down", () => {
  assert.deepEqual(
    [1, 2, 4, 5, 9, 10, 49, 50, 847, 1000, 1999, 2000].map(roundDown),
    [1, 2, 2, 5, 5, 10, 20, 50, 500, 1000, 1000, 2000],
  );
  assert.equal(manifestText({ messages: 0, sessions: 0 }), "");
  assert.equal(manifestText(undefined), "");
  assert.match(manifestText({ messages: 1, sessions: 1 }, []), /1 message in 1 conversation\.$/);
});
