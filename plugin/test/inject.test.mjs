import test from "node:test";
import assert from "node:assert/strict";
import plugin from "../index.js";
import { blocksOf } from "../inject.js";
import { Host } from "./support/host.mjs";
import { Server, blocks } from "./support/server.mjs";

/** A service with facts that can be forgotten; its answers are as the daemon's would be. */
async function forgetful(t) {
  const facts = new Map([["pref.tea", "green"]]);
  const server = await Server.start(t, ({ path, body }) => {
    if (path.endsWith("/clawmark_forget")) {
      return { protocol: 1, ok: true, text: "Forgot.", details:
        { forgotten: facts.delete(body.params.key) } };
    }
    return blocks([...facts].map(([key, value]) => `- ${key}: ${value}`).join("\n"));
  });
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } }).load(plugin);
  return { server, host, forget: () => host.tool("clawmark_forget")({ key: "pref.tea" }) };
}

test("C121 a forgotten fact is not in the next prompt", async (t) => {
  const { host, forget } = await forgetful(t);
  assert.match((await host.turn({ prompt: "tea?" })).request.system, /pref\.tea/);
  await forget();
  assert.doesNotMatch(JSON.stringify((await host.turn({ prompt: "tea?" })).request), /pref\.tea/);
});

test("C121 a forgotten fact does not come from a cache while the daemon is down", async (t) => {
  const { server, host, forget } = await forgetful(t);
  await host.turn({ prompt: "tea?" });
  await forget();
  await server.close();
  for (let n = 0; n < 5; n += 1) {
    assert.equal((await host.turn({ prompt: "tea?" })).result, undefined);
  }
});

test("C121 a fact is not injected from a cache even when the daemon dies before the forget",
  async (t) => {
    const { server, host, forget } = await forgetful(t);
    await host.turn({ prompt: "tea?" });
    await server.close();
    const answer = await forget();
    assert.match(answer.content[0].text, /memory service not running/);
    assert.equal((await host.turn({ prompt: "tea?" })).result, undefined);
  });

test("the request carries the host's context, the clean query, the window and the budget",
  async (t) => {
    const server = await Server.start(t, () => blocks("facts"));
    const host = new Host({ pluginConfig: { socketPath: server.socketPath, budgetChars: 5000 } })
      .load(plugin);
    await host.turn({ prompt: "[Tue 2026-08-04 09:12 CEST] which dentist?", messages: [
      { role: "compactionSummary", content: "…", timestamp: 1 },
      { role: "user", content: "hi", timestamp: 1795979827724 },
      { role: "assistant", content: [], timestamp: "2026-11-29T19:17:24.316Z" },
    ] }, { sessionKey: "agent:main:telegram:direct:101", channel: "telegram", senderId: "101" });

    assert.deepEqual(server.asked("/v1/inject")[0].body, {
      caller: { agent: "main", session_key: "agent:main:telegram:direct:101", session_id: "s-1",
        channel: "telegram", sender_id: "101", trigger: "user" },
      prompt: "which dentist?",
      window: { count: 3, oldest_ms: 1795979827724 },
      budget_chars: 5000,
    });
  });

test("C119 what the request holds already is told, whatever shape the history has", async (t) => {
  const server = await Server.start(t, () => blocks("facts"));
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } }).load(plugin);
  const histories = [undefined, [], "text", [null, 7, { role: "user" }],
    [{ role: "user", timestamp: "no date" }, { role: "user", timestamp: 5.7 }]];
  for (const messages of histories) await host.turn({ prompt: "hello", messages });
  assert.deepEqual(server.asked("/v1/inject").map(({ body }) => body.window),
    [{ count: 0 }, { count: 0 }, { count: 0 }, { count: 3 }, { count: 2, oldest_ms: 5 }]);
});

test("blocks that do not fit the budget are left out whole, facts before recall", () => {
  const answer = blocks("f".repeat(60), "r".repeat(60));
  assert.deepEqual(blocksOf(answer, 120), { facts: "f".repeat(60), recall: "r".repeat(60) });
  assert.deepEqual(blocksOf(answer, 119), { facts: "f".repeat(60), recall: "" });
  assert.deepEqual(blocksOf(answer, 59), { facts: "", recall: "" });
  assert.deepEqual(blocksOf(blocks("🦊".repeat(10)), 10).facts, "🦊".repeat(10));
  assert.deepEqual(blocksOf({ facts_block: 7, recall_block: null }, 100),
    { facts: "", recall: "" });
});

test("a turn that the host has given up is not answered", async (t) => {
  const server = await Server.start(t, () => blocks("facts"));
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } }).load(plugin);
  const { result } = await host.turn({ prompt: "hello" },
    { hookInvocation: { assertActive: () => { throw new Error("over"); } } });
  assert.equal(result, undefined);
});

test("a budget of 0 asks nothing", async (t) => {
  const server = await Server.start(t, () => blocks("facts"));
  const host = new Host({ pluginConfig: { socketPath: server.socketPath, budgetChars: 0 } })
    .load(plugin);
  assert.equal((await host.turn({ prompt: "hello" })).result, undefined);
  assert.equal(server.requests.length, 0);
});
