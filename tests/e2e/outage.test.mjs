// The daemon is stopped, hangs, is killed: the agent must not notice. One gateway for the file.
import { after, before, describe, test } from "node:test";
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { World, systemOf, toolResultsOf } from "./support/world.mjs";
import { until } from "./support/process.mjs";

const SESSION = "agent:main:main";
const GUARD = "[Memory from Clawmark";
const DEADLINE_MS = 300;
/** Of a busy machine: far from the host's own limit of 15 s and from a second deadline. */
const SLACK_MS = 500;
/** For the circuit to close again after a few failures. */
const BACK_SOON_MS = 10_000;

let world;
let ordinaryMs;

before(async () => {
  world = await World.create();
  await world.startDaemon();
  await world.startGateway();
  await world.turn("Remember: tea.", { session: SESSION, steps: [
    { calls: [{ name: "clawmark_set", arguments: { key: "pref.tea", value: "green" } }] }, {}] });
  const times = [];
  for (let n = 0; n < 5; n += 1) times.push((await turn()).elapsedMs);
  ordinaryMs = times.sort((a, b) => a - b)[2];
}, { timeout: 300_000 });
after(() => world?.destroy());

async function turn() {
  const { answer, elapsedMs, requests } = await world.turn("Which tea do I like?",
    { session: SESSION, steps: [{ say: "Some tea." }] });
  assert.equal(answer, "Some tea.");
  return { elapsedMs, injected: systemOf(requests[0]).includes(GUARD) };
}

const backByItself = () => until("memory is back", async () => (await turn()).injected,
  { timeoutMs: BACK_SOON_MS, everyMs: 500 });

const warnings = () => world.gateway.text().split("\n")
  .filter((line) => line.includes("memory service not available"));

describe("C177 the daemon goes away in the middle of a conversation", () => {
  test("before: facts are injected", async () => {
    assert.equal((await turn()).injected, true);
    assert.deepEqual(warnings(), []);
  });

  test("stopped: turns go on at once, tools say so, one warning", async () => {
    await world.stopDaemon();
    const times = [];
    for (let n = 0; n < 4; n += 1) {
      const { elapsedMs, injected } = await turn();
      assert.equal(injected, false);
      times.push(elapsedMs);
    }
    assert.ok(Math.min(...times) < ordinaryMs + SLACK_MS,
      `turns took ${times}, ordinary ones ${ordinaryMs}`);
    const { requests } = await world.turn("Search.", { session: SESSION, steps: [
      { calls: [{ name: "clawmark_search", arguments: { query: "tea" } }] }, { say: "Down." }] });
    assert.match(toolResultsOf(requests[1]).at(-1), /memory service not running/);
    assert.equal(warnings().length, 1);
  });

  test("started again: memory is back by itself", async () => {
    await world.startDaemon();
    await backByItself();
  });

  test("C175 hanging: a turn waits for the deadline and no longer, then not at all", async () => {
    world.daemon.signal("SIGSTOP");
    const times = [];
    for (let n = 0; n < 3; n += 1) {
      const { elapsedMs, injected } = await turn();
      assert.equal(injected, false);
      times.push(elapsedMs);
    }
    const after = (await turn()).elapsedMs;
    world.daemon.signal("SIGCONT");
    assert.ok(Math.min(...times) >= DEADLINE_MS, `hung turns took ${times}`);
    assert.ok(Math.min(...times) < ordinaryMs + DEADLINE_MS + SLACK_MS,
      `hung turns took ${times}, ordinary ones ${ordinaryMs}`);
    assert.ok(after < ordinaryMs + SLACK_MS, `behind the open circuit: ${after}`);
    await backByItself();
  });

  test("killed while it answers: the turn goes on at once", async () => {
    world.daemon.signal("SIGSTOP");
    const running = turn();
    await sleep(Math.min(100, DEADLINE_MS / 2));
    await world.daemon.killHard();
    const { elapsedMs, injected } = await running;
    assert.equal(injected, false);
    assert.ok(elapsedMs < ordinaryMs + DEADLINE_MS + SLACK_MS, `took ${elapsedMs}`);
  });

  test("started after the kill: what was acknowledged is still known", async () => {
    await world.startDaemon();
    await backByItself();
    const hookErrors = world.gateway.text().split("\n")
      .filter((line) => /handler from clawmark failed/.test(line));
    assert.deepEqual(hookErrors, []);
  });
});
