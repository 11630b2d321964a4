import test from "node:test";
import assert from "node:assert/strict";
import plugin from "../index.js";
import { RECALL_PLACES, SETTINGS } from "../config.js";
import { TESTED_HOSTS } from "../placement.js";
import { Host } from "./support/host.mjs";
import { Server, blocks } from "./support/server.mjs";

const FACTS = "<facts>- pref.tea: green</facts>";
const TURNS = 6;

/** Runs turns whose recall differs each time; what the model got, turn by turn. */
async function run(t, { facts = FACTS, ...hostOptions }) {
  let n = 0;
  const server = await Server.start(t, () => blocks(facts, `<recall>excerpt ${n += 1}</recall>`));
  const host = new Host({ ...hostOptions,
    pluginConfig: { ...hostOptions.pluginConfig, socketPath: server.socketPath } }).load(plugin);
  const requests = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    requests.push((await host.turn({ prompt: "hello" })).request);
  }
  return { host, requests };
}

const withRecall = (requests, place) => requests.filter((one) => one[place].includes("<recall>"));

test("C116 tested version: facts end the system prompt, recall is in the message", async (t) => {
  const { host, requests } = await run(t, { version: TESTED_HOSTS[0] });
  assert.equal(withRecall(requests, "user").length, TURNS);
  assert.equal(withRecall(requests, "system").length, 0);
  assert.equal(new Set(requests.map(({ system }) => system)).size, 1, "a stable system prompt");
  assert.ok(requests[0].system.endsWith(FACTS));
  assert.deepEqual(host.warnings(), []);
  assert.equal(host.hook("llm_input"), undefined, "nothing watches where nothing is in doubt");
});

test("C116 untested version, context goes to the message: warned, proven, recall", async (t) => {
  const { host, requests } = await run(t, { version: "2027.1.0", kind: "user" });
  assert.equal(withRecall(requests, "user").length, TURNS - 1, "the first turn was the probe");
  assert.ok(requests[0].user.includes(FACTS), "and the probe was the facts");
  assert.equal(withRecall(requests, "system").length, 0);
  assert.equal(host.warnings().length, 1);
  assert.match(host.warnings()[0], /not been tested with OpenClaw 2027\.1\.0/);
});

test("C116 untested version, context goes to the system prompt: recall never goes there",
  async (t) => {
    const { host, requests } = await run(t, { version: "2027.1.1", kind: "system" });
    assert.equal(withRecall(requests, "user").length + withRecall(requests, "system").length, 0);
    assert.ok(requests.every(({ system }) => system.includes(FACTS)), "facts still arrive");
    assert.equal(host.warnings().length, 2);
    assert.match(host.warnings()[1], /recall is off .*system prompt.*config set .*Placement/s);
  });

test("C116 untested version, placement cannot be seen: recall stays off, with the setting named",
  async (t) => {
    const { host, requests } = await run(t, { version: "2027.1.2", kind: "unknown" });
    assert.equal(withRecall(requests, "user").length + withRecall(requests, "system").length, 0);
    assert.ok(requests.at(-1).system.includes(FACTS));
    assert.equal(host.warnings().length, 2);
    assert.match(host.warnings()[1], /cannot be seen.*recallPlacement/s);
  });

test("C116 untested version without facts: a constant line is the probe", async (t) => {
  const { requests } = await run(t, { version: "2027.1.3", kind: "user", facts: "" });
  assert.match(requests[0].user, /\(Clawmark memory is active\.\)/);
  assert.equal(withRecall(requests, "user").length, TURNS - 1);
});

test("C116 an operator who sets recallPlacement is believed", async (t) => {
  const { host, requests } = await run(t, { version: "2027.1.4",
    pluginConfig: { recallPlacement: "prependContext" } });
  assert.equal(withRecall(requests, "user").length, TURNS);
  assert.match(host.warnings()[0], /recall goes to prependContext as configured/);
});

test("C116 there is no setting that puts recall into the system prompt", () => {
  assert.deepEqual(RECALL_PLACES.filter((place) => /system/i.test(place)), []);
  assert.ok(SETTINGS.factsPlacement.enum.includes(SETTINGS.factsPlacement.default));
});

test("C112 in one field, facts stand before recall: what varies stands last", async (t) => {
  const { host } = await run(t, { pluginConfig: { factsPlacement: "appendContext" } });
  const { result } = await host.turn({ prompt: "hello" });
  assert.deepEqual(Object.keys(result), ["appendContext"]);
  assert.match(result.appendContext, /^<facts>[^]*<\/facts>\n\n<recall>[^]*<\/recall>$/);
});
