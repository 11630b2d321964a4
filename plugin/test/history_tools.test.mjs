import test from "node:test";
import assert from "node:assert/strict";
import plugin from "../index.js";
import { HISTORY_TOOLS } from "../history_tools.js";
import { TOOLS, toolFactory } from "../tools.js";
import { Host } from "./support/host.mjs";
import { Server } from "./support/server.mjs";

const CONTEXT = { agentId: "main", sessionKey: "agent:main:telegram:direct:101", sessionId: "s",
  messageChannel: "telegram", requesterSenderId: "101" };

test("the history's tools have the names and parameters that their users know", () => {
  const shape = Object.fromEntries(HISTORY_TOOLS.map((tool) => [tool.name,
    Object.keys(tool.properties).map((name) =>
      `${name}${tool.required.includes(name) ? "" : "?"}`).join(", ")]));
  assert.deepEqual(shape, {
    rc_peek: "offset, length?, sessionId?",
    rc_grep: "pattern, mode?, scope?, since?, before?, limit?, cursor?, sessionId?",
    rc_slice: "start, end, char?, sessionId?",
    rc_timeline: "sessionId?, bucket?, since?, before?, limit?",
    rc_query: "question, scope?, model?, budget?",
    rc_repl: "code",
  });
});

test("they are left to the host's tool search, and a setting turns them off", () => {
  const host = new Host().load(plugin);
  for (const { name } of HISTORY_TOOLS) {
    assert.equal(host.tools.get(name)({}).catalogMode, undefined);
  }
  const without = new Host({ pluginConfig: { toolsets: ["clawmark"] } }).load(plugin);
  assert.deepEqual([...without.tools.keys()], TOOLS.map(({ name }) => name));
});

test("C154 a call carries the host's caller, whatever the parameters say", async (t) => {
  const server = await Server.start(t, () => ({ protocol: 1, ok: true, text: "2", details: {} }));
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } }).load(plugin);
  const params = { code: "FINAL(1)", caller: { agent: "clinic" }, agent: "clinic" };
  await host.tool("rc_repl", CONTEXT)(params);
  const { path, body } = server.requests[0];
  assert.equal(path, "/v1/tools/rc_repl");
  assert.deepEqual(body.params, params);
  assert.equal(body.caller.agent, "main");
  assert.equal(body.caller.sender_id, "101");
});

test("a question to a model may take longer than a look into the store", async () => {
  const asked = new Map();
  const link = {
    insist: async (path, body, { timeoutMs }) => {
      asked.set(path.split("/").pop(), timeoutMs);
      return { ok: true, value: { ok: true, text: "", details: {} } };
    },
  };
  const config = { toolTimeoutMs: 15_000 };
  for (const spec of HISTORY_TOOLS) {
    await toolFactory(spec, { link, config })(CONTEXT).execute("1", {});
  }
  assert.equal(asked.get("rc_peek"), 15_000);
  assert.equal(asked.get("rc_query"), 90_000);
  assert.equal(asked.get("rc_repl"), 90_000);
});
