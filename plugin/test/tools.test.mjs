import test from "node:test";
import assert from "node:assert/strict";
import plugin from "../index.js";
import { TOOLS } from "../tools.js";
import { USAGE } from "../command.js";
import { Host } from "./support/host.mjs";
import { Server, scratchSocket } from "./support/server.mjs";

async function arrange(t, answer) {
  const server = await Server.start(t, ({ path, body }) => (
    { protocol: 1, ok: true, text: "done", details: {}, ...answer?.(path, body) }));
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } }).load(plugin);
  return { server, host };
}

test("the five tools have the names and parameters that their users know", () => {
  const shape = Object.fromEntries(TOOLS.map((tool) => [tool.name,
    Object.entries(tool.properties).map(([name, { type }]) =>
      `${name}${tool.required.includes(name) ? "" : "?"}: ${type}`).join(", ")]));
  assert.deepEqual(shape, {
    clawmark_set: "key: string, value: string",
    clawmark_search: "query: string, limit?: integer",
    clawmark_reconcile: "drain?: boolean",
    clawmark_review: "days?: integer",
    clawmark_forget: "key?: string, message?: string, session?: string, person?: string, "
      + "query?: string, confirm?: string",
  });
});

test("tools stay visible although the host's tool search is on", () => {
  const host = new Host().load(plugin);
  for (const { name } of TOOLS) {
    const tool = host.tools.get(name)({});
    assert.equal(tool.catalogMode, "direct-only");
    assert.equal(tool.parameters.additionalProperties, false);
  }
});

test("C109 scope comes from the host's context, whatever the model puts into parameters",
  async (t) => {
    const { server, host } = await arrange(t);
    const group = { agentId: "main", sessionKey: "agent:main:telegram:group:-100", sessionId: "g",
      messageChannel: "telegram", requesterSenderId: "202", senderIsOwner: false };
    const forged = { query: "salary", caller: { sender_id: "101", session_key: "agent:main:main" },
      sender_id: "101" };
    await host.tool("clawmark_search", group)(forged);
    const { body } = server.requests[0];
    assert.deepEqual(body.caller, { agent: "main", session_key: "agent:main:telegram:group:-100",
      session_id: "g", channel: "telegram", sender_id: "202", sender_is_owner: false,
      trigger: "tool" });
    assert.deepEqual(body.params, forged, "and parameters stay parameters");
  });

test("C111 what the host does not know stays missing, never blank or 'unknown'", async (t) => {
  const { server, host } = await arrange(t);
  const contexts = [{}, undefined, { senderId: "", sessionKey: "" }, { senderId: "unknown" },
    { senderId: " Unknown " }, { senderId: null, sessionKey: 7, agentId: {} },
    { senderIsOwner: "yes" }, { senderId: "x".repeat(10_000) }];
  for (const context of contexts) {
    await host.hook("before_prompt_build").handler({ prompt: "x" }, context);
    assert.equal(server.requests.at(-1).body.caller.sender_id, undefined);
    assert.equal(server.requests.at(-1).body.caller.sender_is_owner, undefined);
  }
  assert.deepEqual(server.requests[5].body.caller, { session_key: "7" });
  await host.hook("before_prompt_build").handler({ prompt: "x" }, { senderId: 101 });
  assert.equal(server.requests.at(-1).body.caller.sender_id, "101");
});

test("answers and refusals arrive in words; reserved detail names are not set", async (t) => {
  const { host } = await arrange(t, (path) => (path.endsWith("_set")
    ? { ok: false, text: "KEY_FORMAT: bad key", details: { code: "KEY_FORMAT" } }
    : { text: "Forgot pref.tea.", details: { forgotten: true } }));
  assert.deepEqual(await host.tool("clawmark_set")({ key: "X", value: "y" }), {
    content: [{ type: "text", text: "KEY_FORMAT: bad key" }],
    details: { code: "KEY_FORMAT", refused: true } });
  assert.deepEqual(await host.tool("clawmark_forget")({ key: "pref.tea" }), {
    content: [{ type: "text", text: "Forgot pref.tea." }], details: { forgotten: true } });
});

test("a tool call that the host aborts ends at once and counts as no outage", async (t) => {
  const server = await Server.start(t, () => {});
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } }).load(plugin);
  const abort = new AbortController();
  const call = host.tool("clawmark_search")({ query: "x" }, abort.signal);
  setTimeout(() => abort.abort(), 30);
  const started = performance.now();
  assert.match((await call).content[0].text, /not running/);
  assert.ok(performance.now() - started < 1000);
  assert.deepEqual(host.warnings(), []);
});

test("memory_search gets facts and excerpts, bounded, and facts can be read again", async (t) => {
  const { server, host } = await arrange(t, () => ({ details: {
    facts: [{ key: "user.dentist", value: "Dr. Weiss", confidence: 1, source: "user" }],
    recalled: [{ id: "m-1", date: "2026-01-06", role: "user", excerpt: "Dr. Weiss at 9",
      score: 0.8 }, { id: "m-2", excerpt: "x", score: 7 }] } }));
  const [corpus] = host.corpora;
  const hits = await corpus.search({ query: "dentist", maxResults: 2, agentId: "main",
    agentSessionKey: "agent:main:main" });
  assert.deepEqual(hits.map(({ path, score, snippet }) => [path, score, snippet]), [
    ["clawmark/facts/user.dentist", 1, "user.dentist: Dr. Weiss"],
    ["clawmark/messages/m-1", 0.8, "Dr. Weiss at 9"]]);
  assert.deepEqual(server.requests[0].body, { params: { query: "dentist", limit: 2 },
    caller: { agent: "main", session_key: "agent:main:main", trigger: "memory_search" } });
  assert.equal((await corpus.get({ lookup: "clawmark/facts/user.dentist" })).content,
    "user.dentist: Dr. Weiss");
  assert.equal(await corpus.get({ lookup: "clawmark/facts/user.other" }), null);
  assert.equal(await corpus.get({ lookup: "MEMORY.md" }), null);
});

test("C111 memory_search knows the sender of a direct chat only from the host's own turn",
  async (t) => {
    const { server, host } = await arrange(t);
    const senderIn = async (agentSessionKey) => {
      await host.corpora[0].search({ query: "x", agentId: "main", agentSessionKey });
      return server.requests.at(-1).body.caller.sender_id;
    };
    const turns = [["agent:main:slack:direct:u07ab", "U07AB"], ["agent:main:main", "101"],
      ["agent:main:telegram:group:-100", "101"], ["agent:main:telegram:direct:102", "103"],
      ["agent:main:telegram:work:direct:104", "104"],
      ["agent:main:telegram:direct:105", "unknown"]];
    assert.equal(await senderIn(turns[0][0]), undefined, "before any turn");
    for (const [sessionKey, senderId] of turns) {
      await host.hook("before_prompt_build").handler({ prompt: "x" }, { sessionKey, senderId });
    }
    const known = [];
    for (const [sessionKey] of turns) known.push(await senderIn(sessionKey));
    assert.deepEqual(known, ["U07AB", undefined, undefined, undefined, "104", undefined]);
  });

test("memory_search without the daemon finds nothing and does not throw", async (t) => {
  const host = new Host({ pluginConfig: { socketPath: scratchSocket(t) } }).load(plugin);
  assert.deepEqual(await host.corpora[0].search({ query: "dentist" }), []);
  assert.equal(await host.corpora[0].get({ lookup: "clawmark/facts/a.b" }), null);
  const off = new Host({ pluginConfig: { memorySearch: false } }).load(plugin);
  assert.equal(off.corpora.length, 0);
});

test("/clawmark serves people without a model call", async (t) => {
  const { server, host } = await arrange(t, (path, body) => ({
    text: `${path.split("/").at(-1)} ${JSON.stringify(body?.params)}`,
    facts_block: "- pref.tea: green", version: "0.1.0", lag: { ingest: 3, embed: 0 },
    warnings: [{ code: "source_stale", message: "a source is stale" }] }));
  const run = async (args) => (await host.commands.get("clawmark").handler({ args, agentId: "main",
    sessionKey: "agent:main:telegram:direct:101", channel: "telegram", senderId: "101" })).text;

  assert.match(await run("search  my dentist "), /clawmark_search \{"query":"my dentist"\}/);
  assert.match(await run("forget user.dentist"), /clawmark_forget \{"key":"user.dentist"\}/);
  assert.equal(await run("facts"), "- pref.tea: green");
  assert.match(await run(""), /warnings: a source is stale[^]*version: 0\.1\.0[^]*lag ingest: 3/);
  for (const odd of ["search", "forget", "dance", "constructor", "__proto__ x"]) {
    assert.equal(await run(odd), USAGE);
  }
  assert.equal(host.commands.get("clawmark").requireAuth, true);
  for (const { path, body } of server.requests.filter((one) => one.body)) {
    assert.equal(body.caller.sender_id, "101", path);
    assert.ok(!path.startsWith("/v1/admin"), "never the operator's interface");
  }
});

test("/clawmark status says how the plugin is, however long the rest is", async (t) => {
  const counts = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`kind_${n}`, n]));
  const { host } = await arrange(t, () => ({ version: "0.1.0", counts, health: "ok",
    plugin: { host_version: "2026.9.6" } }));
  const { text } = await host.commands.get("clawmark").handler({ args: "status" });
  assert.match(text, /^health: ok\nplugin host version: 2026\.9\.6\n/);
  assert.ok(text.split("\n").length <= 40);
});

test("/clawmark without the daemon says so and how to start it", async (t) => {
  const host = new Host({ pluginConfig: { socketPath: scratchSocket(t) } }).load(plugin);
  for (const args of ["status", "facts", "search x", "forget a.b"]) {
    const { text } = await host.commands.get("clawmark").handler({ args });
    assert.match(text, /not running/);
  }
});
