// The official client talks to the real program, with and without the real daemon behind it.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, afterEach, before } from "node:test";
import { pathToFileURL } from "node:url";
import { toolTable } from "../../schema/make_tools.mjs";

const sdk = (name) => import(pathToFileURL(join(process.env.CLAWMARK_MCP_SDK,
  "node_modules/@modelcontextprotocol/sdk/dist/esm", name)).href);
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");
const program = (name) => join(process.env.CLAWMARK_BIN_DIR, name);

const home = mkdtempSync(join(tmpdir(), "clawmark-mcp-"));
const env = { HOME: home, PATH: process.env.PATH, TZ: "UTC" };
const socket = join(home, ".local/share/clawmark/clawmark.sock");
let daemon;

async function startDaemon() {
  daemon = spawn(program("clawmarkd"), [], { env, stdio: "ignore" });
  while (!existsSync(socket)) await new Promise((resolve) => { setTimeout(resolve, 20); });
}
async function stopDaemon() {
  if (!daemon || daemon.exitCode !== null) return;
  const ended = new Promise((resolve) => { daemon.on("exit", resolve); });
  daemon.kill("SIGTERM");
  await ended;
}

const open = []; // of the test that runs: one that fails must not leave its program behind
async function connect(...options) {
  const client = new Client({ name: "clawmark-tests", version: "1" });
  const errors = [];
  open.push(client);
  client.onerror = (error) => errors.push(error.message); // anything else on stdout lands here
  await client.connect(new StdioClientTransport({ command: program("clawmark"),
    args: [...options, "mcp"], env, stderr: "pipe" }));
  return { client, errors };
}
const textOf = (answer) => answer.content.map((part) => part.text).join("");

before(async () => {
  mkdirSync(join(home, ".openclaw"), { recursive: true });
  await startDaemon();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close().catch(() => {})));
});
after(async () => {
  await stopDaemon();
  rmSync(home, { recursive: true, force: true });
});

test("initialize, ping, and every tool with the plugin's names, descriptions and schemas", async () => {
  const { client, errors } = await connect("--as", "owner");
  assert.equal(client.getServerVersion().name, "clawmark");
  assert.ok(client.getServerCapabilities().tools);
  await client.ping();
  const { tools } = await client.listTools();
  const expected = toolTable();
  assert.deepEqual(tools.map(({ name, description, inputSchema }) => (
    { name, description, inputSchema })), expected.map(({ name, description, inputSchema }) => (
    { name, description, inputSchema })));
  await client.close();
  assert.deepEqual(errors, []);
});

test("each family answers; a wall holds between two people", async () => {
  const { client: ada, errors } = await connect("--as", "telegram:101");
  const { client: bo } = await connect("--as", "telegram:202");
  const call = (client, name, args = {}) => client.callTool({ name, arguments: args });
  const set = await call(ada, "clawmark_set", { key: "pref.editor", value: "helix" });
  assert.ok(!set.isError, textOf(set));
  assert.match(textOf(await call(ada, "clawmark_search", { query: "editor" })), /helix/);
  assert.doesNotMatch(textOf(await call(bo, "clawmark_search", { query: "editor" })), /helix/);
  for (const [name, args] of [["wc_restore", {}], ["wc_graph", { action: "list" }],
    ["rc_peek", { offset: 0 }], ["rc_timeline", {}], ["clawmark_review", {}]]) {
    const answer = await call(ada, name, args);
    assert.ok(!answer.isError, `${name}: ${textOf(answer)}`);
  }
  const refused = await call(ada, "clawmark_set", { key: "no dots", value: "x" });
  assert.equal(refused.isError, true);
  await assert.rejects(call(ada, "clawmark_drop"), { code: -32602 });
  await Promise.all([ada.close(), bo.close()]);
  assert.deepEqual(errors, []);
});

test("a cancelled request leaves the session usable", async () => {
  const { client } = await connect("--as", "owner");
  const stop = new AbortController();
  const slow = client.callTool({ name: "rc_repl", arguments: { code: "while (true) {}" } },
    undefined, { signal: stop.signal });
  stop.abort("not wanted");
  await assert.rejects(slow);
  const answer = await client.callTool({ name: "clawmark_review", arguments: {} });
  assert.ok(!answer.isError, textOf(answer));
  await client.close();
});

test("calls that come with the end of input are answered before the program ends", () => {
  const lines = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } },
    { jsonrpc: "2.0", id: 2, method: "tools/call",
      params: { name: "clawmark_search", arguments: { query: "x" } } }];
  const done = spawnSync(program("clawmark"), ["--as", "owner", "mcp"],
    { env, input: lines.map((line) => JSON.stringify(line)).join("\n"), encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  const ids = done.stdout.trim().split("\n").map((line) => JSON.parse(line).id);
  assert.deepEqual(ids.sort(), [1, 2]);
});

test("without the daemon a call says so, and works again once there is one", async () => {
  const { client } = await connect("--as", "owner");
  const search = () => client.callTool({ name: "clawmark_search", arguments: { query: "x" } });
  await stopDaemon();
  const answer = await search();
  assert.equal(answer.isError, true);
  assert.match(textOf(answer), /memory service not running.*clawmarkd/);
  await startDaemon();
  assert.ok(!(await search()).isError);
  await client.close();
});
