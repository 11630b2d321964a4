import test from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import { execFileSync } from "node:child_process";
import plugin from "../index.js";
import { configSchema, resolveConfig, SETTINGS } from "../config.js";
import { TOOLSETS } from "../tools.js";
import { VERSION } from "../version.js";
import { ALLOW_COMMAND } from "../health.js";
import { Host } from "./support/host.mjs";
import { Server, blocks, until } from "./support/server.mjs";

const ALL_TOOLS = Object.values(TOOLSETS).flat();
const read = (name) => JSON.parse(fs.readFileSync(new URL(`../${name}`, import.meta.url)));

test("C178 register is synchronous, and the host's check for it can fail", () => {
  const asynchronous = { id: plugin.id, register: async (api) => plugin.register(api) };
  assert.throws(() => new Host().load(asynchronous), /must be synchronous/);
  assert.equal(plugin.register(new Host().api), undefined);
});

test("C178 all hooks and tools are there when register returns", () => {
  const host = new Host().load(plugin);
  assert.ok(host.hook("before_prompt_build"));
  assert.deepEqual([...host.tools.keys()], ALL_TOOLS.map(({ name }) => name));
  assert.equal(host.services.length, 1);
  assert.ok(host.commands.has("clawmark"));
  assert.equal(host.corpora.length, 1);
});

test("C178 a host with fewer registration calls still gets hook and tools", () => {
  const host = new Host({ version: "2026.9.1" });
  for (const missing of ["registerService", "registerCommand", "registerMemoryCorpusSupplement",
    "registerContextEngine", "runtime", "registrationMode", "pluginConfig"]) {
    delete host.api[missing];
  }
  host.load(plugin);
  assert.ok(host.hook("before_prompt_build"));
  assert.equal(host.tools.size, ALL_TOOLS.length);
});

test("C178 registering many times opens nothing and subscribes to nothing", async (t) => {
  const server = await Server.start(t, () => blocks());
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } });
  for (let n = 0; n < 18; n += 1) host.load(plugin);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(server.requests.length, 0);
  assert.equal(host.listeners.size, 0);
});

test("C180 without allowConversationAccess it says so once, with the command", () => {
  const host = new Host({ hooks: {} });
  for (let n = 0; n < 5; n += 1) host.load(plugin);
  assert.equal(host.warnings().length, 1);
  assert.match(host.warnings()[0], /blocks the hook before_prompt_build/);
  assert.ok(host.warnings()[0].includes(ALLOW_COMMAND));
  assert.equal(ALLOW_COMMAND,
    "openclaw config set plugins.entries.clawmark.hooks.allowConversationAccess true");
});

test("C180 the daemon is told which hooks are blocked, and the command line of the chat too",
  async (t) => {
    const server = await Server.start(t, (request) => (
      request.path === "/v1/status" ? { protocol: 1, version: "1.2.3" } : { protocol: 1 }));
    const config = { socketPath: server.socketPath };
    const blocked = new Host({ hooks: { allowConversationAccess: false }, pluginConfig: config })
      .load(plugin);
    const allowed = new Host({ pluginConfig: config }).load(plugin);

    for (const [n, host] of [blocked, allowed].entries()) {
      await host.startServices();
      await until(() => server.asked("/v1/hello").length === n + 1, "the handshake");
      await host.stopServices();
    }
    const said = server.asked("/v1/hello").map(({ body }) => body);
    assert.deepEqual(said.map((body) => body.blocked_hooks), [["before_prompt_build"], []]);
    assert.deepEqual(said[1], { plugin_version: VERSION, host_version: "2026.9.6",
      placement: { facts: SETTINGS.factsPlacement.default,
        recall: SETTINGS.recallPlacement.default },
      blocked_hooks: [], context_mode: "" });

    const status = async (host) => (await host.commands.get("clawmark").handler({})).text;
    assert.ok((await status(blocked)).includes(ALLOW_COMMAND));
    assert.equal(await status(allowed), "version: 1.2.3");
  });

test("C180 a host that forbids prompt injection is named as the reason", async (t) => {
  const host = new Host({ hooks: { allowConversationAccess: true, allowPromptInjection: false } })
    .load(plugin);
  assert.match(host.warnings()[0], /hooks\.allowPromptInjection true/);
});

test("manifest, package and code agree", () => {
  const manifest = read("openclaw.plugin.json");
  const pkg = read("package.json");
  assert.deepEqual(manifest.configSchema, JSON.parse(JSON.stringify(configSchema())));
  assert.deepEqual(manifest.contracts.tools, ALL_TOOLS.map(({ name }) => name));
  assert.equal(manifest.id, plugin.id);
  assert.equal(manifest.activation.onStartup, true);
  assert.ok(!("kind" in manifest), "a kind would evict the host's memory or context engine");
  assert.deepEqual([manifest.version, pkg.version], [VERSION, VERSION]);
  for (const field of ["dependencies", "peerDependencies", "optionalDependencies", "bin"]) {
    assert.equal(pkg[field], undefined);
  }
});

test("the package holds what runs and nothing else, and imports only itself and Node", () => {
  const folder = new URL("..", import.meta.url).pathname;
  const [pack] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json"],
    { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
  const names = pack.files.map((file) => file.path);
  const sources = ["", "engine/"].flatMap((part) => fs.readdirSync(folder + part)
    .filter((name) => name.endsWith(".js")).map((name) => part + name));
  assert.deepEqual(names.filter((name) => name.endsWith(".js")).sort(), sources.sort());
  assert.ok(names.includes("openclaw.plugin.json") && names.includes("README.md"));
  assert.ok(!names.some((name) => name.startsWith("test/")));
  for (const name of sources) {
    const text = fs.readFileSync(`${folder}/${name}`, "utf8")
      .replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
    for (const [, from] of text.matchAll(/\bfrom "([^"]+)"|\bimport\(/g)) {
      assert.match(from ?? "(dynamic)", /^(node:|\.{1,2}\/)/, `${name} imports ${from}`);
    }
  }
});

test("the socket: setting, else CLAWMARK_SOCKET, else the data folder", () => {
  const path = (plugins, env) => resolveConfig(plugins, env).socketPath;
  const env = { HOME: "/home/ada", XDG_DATA_HOME: "/data", CLAWMARK_SOCKET: "/run/a.sock" };
  assert.equal(path({ socketPath: "~/b.sock" }, env), "/home/ada/b.sock");
  assert.equal(path({ socketPath: " " }, env), "/run/a.sock");
  assert.equal(path({}, { ...env, CLAWMARK_SOCKET: "" }), "/data/clawmark/clawmark.sock");
  assert.equal(path(undefined, { HOME: "/home/ada" }),
    "/home/ada/.local/share/clawmark/clawmark.sock");
});

test("a setting the host should have refused is replaced by its default", () => {
  const config = resolveConfig({ factsPlacement: "systemPrompt", recallPlacement:
    "appendSystemContext", allowSessions: ["ok", 7], budgetChars: -1, memorySearch: "no" }, {});
  for (const name of Object.keys(SETTINGS).filter((one) => one !== "socketPath")) {
    const otherwise = { freshTailCount: 20 }[name]; // by mode
    assert.deepEqual(config[name], SETTINGS[name].default ?? otherwise, name);
  }
});

test("files stay small and lines short", () => {
  const root = new URL("..", import.meta.url).pathname;
  const e2e = new URL("../../tests/e2e/", import.meta.url).pathname;
  for (const folder of [root, e2e]) {
    if (!fs.existsSync(folder)) continue;
    for (const name of fs.readdirSync(folder, { recursive: true })) {
      if (!/\.m?js$/.test(name)) continue;
      const lines = fs.readFileSync(`${folder}${name}`, "utf8").split("\n");
      assert.ok(lines.length <= 400, `${name} has ${lines.length} lines`);
      const long = lines.findIndex((line) => line.length > 100);
      assert.equal(long, -1, `${name}:${long + 1} is longer than 100 columns`);
    }
  }
});
