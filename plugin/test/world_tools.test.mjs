import test from "node:test";
import assert from "node:assert/strict";
import plugin from "../index.js";
import { TOOLS, TOOLSETS } from "../tools.js";
import { WORLD_TOOLS } from "../world_tools.js";
import { Host } from "./support/host.mjs";
import { Server } from "./support/server.mjs";

test("the world model's tools have the names and parameters that their users know", () => {
  const shape = Object.fromEntries(WORLD_TOOLS.map((tool) => [tool.name,
    Object.keys(tool.properties).map((name) =>
      `${name}${tool.required.includes(name) ? "" : "?"}`).join(", ")]));
  assert.deepEqual(shape, {
    wc_restore: "focus?, at?",
    wc_search: "query, scope?, limit?, at?",
    wc_graph: "action, nodeType?, name?, depth?, limit?, at?",
    wc_episode: "action, minSalience?, eventType?, query?, limit?, at?",
    wc_expand: "summaryId",
    wc_file: "action, id?, fromLine?, lines?, fromChar?, chars?, limit?, at?",
  });
});

test("they are left to the host's tool search; the core tools are not", () => {
  const host = new Host().load(plugin);
  for (const { name } of WORLD_TOOLS) assert.equal(host.tools.get(name)({}).catalogMode, undefined);
  for (const { name } of TOOLS) assert.equal(host.tools.get(name)({}).catalogMode, "direct-only");
});

test("toolsets says which of them there are", () => {
  const names = (toolsets) =>
    [...new Host({ pluginConfig: { toolsets } }).load(plugin).tools.keys()];
  assert.deepEqual(names(["clawmark"]), TOOLS.map(({ name }) => name));
  assert.deepEqual(names(["wc"]), WORLD_TOOLS.map(({ name }) => name));
  assert.deepEqual(names([]), []);
  assert.equal(names(["moon"]).length, Object.values(TOOLSETS).flat().length,
    "refused: the default");
});

test("a call carries the host's caller and the parameters as they are", async (t) => {
  const server = await Server.start(t, () => (
    { protocol: 1, ok: true, text: "Tasks under way: none", details: { degraded: [] } }));
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } }).load(plugin);
  const context = { agentId: "main", sessionKey: "agent:main:telegram:direct:101", sessionId: "s",
    messageChannel: "telegram", requesterSenderId: "101" };
  const answer = await host.tool("wc_restore", context)({ focus: "seats" });
  assert.equal(answer.content[0].text, "Tasks under way: none");
  const { path, body } = server.requests[0];
  assert.equal(path, "/v1/tools/wc_restore");
  assert.deepEqual(body.params, { focus: "seats" });
  assert.equal(body.caller.sender_id, "101");
});
