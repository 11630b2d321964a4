// Installing with the host's own commands, and the one permission that no installer sets. Before it
// is given, nothing is injected, but history is read and the tools work; the log names the command;
// running just that command makes memory arrive in the running gateway.
import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { PLUGIN_DIR, World, systemOf, toolResultsOf } from "./support/world.mjs";
import { run, until } from "./support/process.mjs";

const SESSION = "agent:main:main";
const GUARD = "[Memory from Clawmark";
const TOOLS = ["clawmark_forget", "clawmark_reconcile", "clawmark_review", "clawmark_search",
  "clawmark_set"];

describe("install", () => {
  test("openclaw plugins install --link takes the folder as it is", async (t) => {
    const world = await World.create({ plugin: null, paths: [] });
    t.after(() => world.destroy());
    const { code, text } = await world.cli("plugins", "install", "--link", PLUGIN_DIR, "--force",
      "--accept-capabilities");
    assert.equal(code, 0, text);
    const config = JSON.parse(fs.readFileSync(path.join(world.stateDir, "openclaw.json")));
    assert.equal(config.plugins.entries.clawmark.enabled, true);
    assert.deepEqual(config.plugins.load.paths, [PLUGIN_DIR]);
    assert.equal(config.plugins.slots?.memory, undefined, "no slot is taken");
    assert.equal(config.plugins.slots?.contextEngine, undefined);
  });
});

describe("clawmark init", () => {
  test("sets the host up by its own commands, and uninstall takes it back", async (t) => {
    const world = await World.create({ plugin: null, paths: [] });
    t.after(() => world.destroy());
    const file = path.join(world.stateDir, "openclaw.json");
    const hostConfig = () => JSON.parse(fs.readFileSync(file));
    const before = hostConfig();
    const bin = process.env.CLAWMARK_BIN_DIR || path.resolve(PLUGIN_DIR, "../build/release/bin");
    const env = { ...world.env, PATH: `${path.dirname(world.openclaw)}:${world.env.PATH}` };
    const clawmark = (...args) => run(path.join(bin, "clawmark"), args, { env, cwd: world.folder });
    const done = await clawmark("init", "--yes", "--no-service");
    assert.equal(done.code, 0, done.text);
    const { plugins } = hostConfig();
    assert.equal(plugins.entries.clawmark.hooks.allowConversationAccess, true);
    assert.equal(plugins.entries.clawmark.config.socketPath, world.socketPath);
    assert.ok(plugins.load.paths.some((folder) => fs.existsSync(path.join(folder, "index.js"))));
    const again = await clawmark("init", "--yes", "--no-service", "--json");
    assert.deepEqual(JSON.parse(again.text).steps.map((step) => step.outcome), ["same", "same"]);
    const gone = await clawmark("uninstall", "--yes");
    assert.equal(gone.code, 0, gone.text);
    const after = hostConfig();
    assert.deepEqual(after.plugins?.entries?.clawmark ?? { enabled: false }, { enabled: false });
    assert.deepEqual(after.plugins?.load?.paths ?? [], []);
    const rest = (config) => ({ ...config, plugins: null, meta: null });
    assert.deepEqual(rest(after), rest(before));
  }, { timeout: 200_000 });
});

describe("a packed plugin without allowConversationAccess", () => {
  let world;
  after(() => world?.destroy());
  before(async () => {
    world = await World.create({ plugin: null, paths: [], telegram: { owner: 101 } });
    const packed = await run("npm", ["pack", "--silent", "--pack-destination", world.folder,
      PLUGIN_DIR], { env: world.env, cwd: world.folder });
    assert.equal(packed.code, 0, packed.text);
    const installed = await world.cli("plugins", "install",
      `npm-pack:${world.in(packed.text.trim())}`, "--force", "--accept-capabilities");
    assert.equal(installed.code, 0, installed.text);
    await world.startDaemon();
    await world.startGateway();
  }, { timeout: 400_000 });

  test("C178 'plugins inspect' lists hook, tools, command and service", async () => {
    const { code, text } = await world.cli("plugins", "inspect", "clawmark", "--runtime", "--json");
    assert.equal(code, 0, text);
    const { plugin, ...rest } = JSON.parse(text.slice(text.indexOf("{")));
    const shown = JSON.stringify({ plugin, ...rest });
    for (const name of [...TOOLS, "before_reset", "clawmark-service"]) {
      assert.ok(shown.includes(name), `${name} in ${shown.slice(0, 2000)}`);
    }
  });

  test("C180 five turns: nothing injected, history read, tools at work, loud in log and status",
    async () => {
      const facts = ["my bike is a red Kestrel", "the spare key hangs in the shed",
        "Nora's birthday is in May", "the wifi is called Teapot", "I am allergic to kiwi"];
      for (const fact of facts) {
        const { requests } = await world.turn(`You should know that ${fact}.`,
          { session: SESSION, steps: [{ say: "Good to know." }] });
        assert.ok(!requests[0].text.includes(GUARD));
        const offered = requests[0].body.tools.map((tool) => tool.function.name);
        assert.deepEqual(offered.filter((name) => name.startsWith("clawmark_")), TOOLS);
      }
      const { requests } = await world.turn("What did I say about my bike?",
        { session: "agent:main:dashboard:other", steps: [
          { calls: [{ name: "clawmark_search", arguments: { query: "red Kestrel bike" } }] },
          { say: "A Kestrel." }] });
      assert.match(toolResultsOf(requests[1]).at(-1), /red Kestrel/, "ingested without the hook");
      const set = await world.turn("Remember my bike.", { session: SESSION, steps: [
        { calls: [{ name: "clawmark_set", arguments: { key: "user.bike", value: "Kestrel" } }] },
        { say: "Yes." }] });
      assert.match(toolResultsOf(set.requests[1]).at(-1), /user\.bike/);

      assert.match(world.gateway.text(), /clawmark: nothing is injected into prompts/);
      const status = await world.ask("/v1/status");
      assert.match(JSON.stringify(status.value), /before_prompt_build/);
      const { answer } = await world.say("/clawmark status", { from: 101 });
      assert.match(answer, /config set .*allowConversationAccess true/);
    });

  test("C180 the command from the log is all it takes", async () => {
    const [, command] = /To allow it: openclaw (config set \S+ true)/.exec(world.gateway.text());
    await ran(command);
    // The host refuses to replace a plugin while a turn runs, and does not try again by itself:
    // no turn is started before it has spoken.
    await until("the host has read its new configuration", async () =>
      /\[reload\] config (hot )?reload|\[reload\] .*applied/.test(world.gateway.text()),
    { timeoutMs: 60_000, child: world.gateway });
    const { requests } = await world.turn("What is my bike called?",
      { session: "agent:main:dashboard:allowed" });
    assert.match(systemOf(requests[0]), /user\.bike: Kestrel/, world.gateway.text().slice(-3000));
    await statusKnows();
  });

  test("C180 given while a turn runs, the host refuses it until the plugin is reloaded",
    async () => {
      const [, set, reload] = /: openclaw (config set \S+) true.*also: openclaw ([^)]+)/
        .exec(world.gateway.text());
      const before = world.gateway.text().length;
      const said = (words) => until(words, async () =>
        world.gateway.text().slice(before).includes(words),
      { timeoutMs: 60_000, child: world.gateway });
      await ran(`${set} false`);
      await said("config hot reload applied");
      let release;
      const held = world.turn("Are you there?", { session: "agent:main:dashboard:held",
        steps: [{ say: "Yes.", after: new Promise((resolve) => { release = resolve; }) }] });
      await ran(`${set} true`);
      await said("still has active retained work");
      release();
      await held;
      await ran(reload);
      const { requests } = await world.turn("What is my bike called?",
        { session: "agent:main:dashboard:reloaded" });
      assert.match(systemOf(requests[0]), /user\.bike: Kestrel/, world.gateway.text().slice(-3000));
    });

  async function ran(command) {
    const { code, text } = await world.cli(...command.split(" "));
    assert.equal(code, 0, text);
  }

  async function statusKnows() {
    await until("status knows", async () => {
      const status = await world.ask("/v1/status");
      return !JSON.stringify(status.value).includes("before_prompt_build");
    }, { timeoutMs: 20_000 });
  }
});
