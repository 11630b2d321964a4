import test from "node:test";
import assert from "node:assert/strict";
import plugin from "../index.js";
import { resolveConfig, SETTINGS } from "../config.js";
import { Host } from "./support/host.mjs";
import { Server, blocks, until } from "./support/server.mjs";

const SLACK_MS = 250;

async function slowServer(t, delayMs) {
  const timers = new Set();
  t.after(() => timers.forEach(clearTimeout));
  return Server.start(t, (request, response) => {
    timers.add(setTimeout(() => response.end(JSON.stringify(blocks("late"))), delayMs));
  });
}

for (const hostLimitMs of [15_000, 2000]) {
  test(`C175 a daemon that needs 20 s costs a turn our deadline, host limit ${hostLimitMs} ms`,
    async (t) => {
      const server = await slowServer(t, 20_000);
      const pluginConfig = { socketPath: server.socketPath, timeoutMs: undefined };
      const host = new Host({ limitMs: hostLimitMs, pluginConfig }).load(plugin);

      const { result, elapsedMs } = await host.turn({ prompt: "hello" });

      assert.equal(result, undefined);
      assert.ok(elapsedMs >= SETTINGS.timeoutMs.default - 5, `gave up after ${elapsedMs} ms`);
      assert.ok(elapsedMs <= SETTINGS.timeoutMs.default + SLACK_MS, `waited ${elapsedMs} ms`);
      assert.deepEqual(host.log.filter(({ level }) => level === "hook-error"), [],
        "the host never had to cut us off");
    });
}

test("C175 the hook registers an explicit limit, a little above its own deadline", () => {
  const host = new Host({ pluginConfig: { timeoutMs: 700 } }).load(plugin);
  const { timeoutMs } = host.hook("before_prompt_build").options;
  assert.ok(timeoutMs > 700 && timeoutMs <= 2000, `registered ${timeoutMs}`);
});

test("C175 no setting makes a turn wait longer than 1.5 s", () => {
  assert.equal(SETTINGS.timeoutMs.maximum, 1500);
  assert.equal(resolveConfig({ timeoutMs: 20_000 }, {}).timeoutMs, 300);
  assert.equal(resolveConfig({ timeoutMs: "1000" }, {}).timeoutMs, 300);
  assert.equal(resolveConfig({ timeoutMs: 1500 }, {}).timeoutMs, 1500);
});

test("C175 after the deadline nothing goes on: the connection is closed", async (t) => {
  const server = await slowServer(t, 20_000);
  const host = new Host({ pluginConfig: { socketPath: server.socketPath, timeoutMs: 100 } })
    .load(plugin);

  await host.turn({ prompt: "hello" });
  await until(() => server.requests.length === 1 && server.connections.size === 0);
});

test("C175 a hanging daemon stops costing anything once the circuit is open", async (t) => {
  const server = await slowServer(t, 20_000);
  const host = new Host({ pluginConfig: { socketPath: server.socketPath, timeoutMs: 100 } })
    .load(plugin);

  for (let n = 0; n < 3; n += 1) await host.turn({ prompt: "hello" });
  const { elapsedMs } = await host.turn({ prompt: "hello" });

  assert.ok(elapsedMs < 90, `the fourth turn waited ${elapsedMs} ms`);
  assert.equal(server.requests.length, 3);
});
