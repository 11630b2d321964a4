// Method: for each way in which the memory service can be missing or broken, five turns run through
// the plugin as the host would run them. No turn may change, throw or wait beyond the deadline, the
// log gets one warning, and every tool answers in words.
import test from "node:test";
import assert from "node:assert/strict";
import fs from "node:fs";
import plugin from "../index.js";
import { TOOLS, NOT_RUNNING } from "../tools.js";
import { ANSWER_BYTES_MAX } from "../client.js";
import { Host } from "./support/host.mjs";
import { Server, blocks, dyingServer, scratchSocket } from "./support/server.mjs";

const TIMEOUT_MS = 150;
/** For the event loop of a busy machine. */
const SLACK_MS = 250;
const TURNS = 5;
const BIG = Buffer.alloc(50 * 1024 * 1024, "x");

const raw = (write) => async (t) => (await Server.start(t, (request, response) => {
  write(response);
})).socketPath;

const FAULTS = {
  "socket absent": async (t) => scratchSocket(t),
  "connection refused": async (t) => {
    const socketPath = scratchSocket(t);
    fs.writeFileSync(socketPath, "");
    return socketPath;
  },
  "socket file of a dead process": async (t) => {
    const socketPath = scratchSocket(t);
    const server = await dyingServer(t, socketPath, "idle");
    await server.kill();
    assert.ok(fs.statSync(socketPath).isSocket(), "the dead process left its socket file");
    return socketPath;
  },
  "answer cut": raw((response) => {
    response.writeHead(200, { "content-length": 400 });
    response.write('{"protocol":1,"facts_block":"half', () => response.destroy());
  }),
  "answer cut in a chunk": raw((response) => {
    response.writeHead(200);
    response.write(JSON.stringify(blocks("complete JSON, incomplete answer")),
      () => response.destroy());
  }),
  "connection closed without an answer": raw((response) => response.destroy()),
  "answer of 50 MB, announced": raw((response) => {
    response.writeHead(200, { "content-length": BIG.length });
    response.end(BIG);
  }),
  "answer of 50 MB, streamed": raw((response) => {
    const part = Buffer.alloc(64 * 1024, "x");
    let left = 800;
    const more = () => {
      while (left > 0 && !response.destroyed) {
        left -= 1;
        if (!response.write(part)) return response.once("drain", more);
      }
      return response.end();
    };
    more();
  }),
  "invalid JSON": raw((response) => response.end("<html>not JSON</html>")),
  "JSON that is not an object": raw((response) => response.end("[1]")),
  "empty answer": raw((response) => response.end()),
  "not HTTP": raw((response) => response.socket.end("hello\r\n\r\n")),
  "wrong protocol version": raw((response) => response.end(
    JSON.stringify({ ...blocks("facts of another protocol"), protocol: 2 }))),
  "no protocol version": raw((response) => response.end(
    JSON.stringify({ ...blocks("facts of no protocol"), protocol: undefined }))),
  "internal error": raw((response) => {
    response.statusCode = 500;
    response.end(JSON.stringify({ protocol: 1, error: { code: "internal", message: "sorry" } }));
  }),
  "hanging": raw(() => {}),
  "slow": raw((response) => setTimeout(
    () => response.end(JSON.stringify(blocks("late facts"))), TIMEOUT_MS * 4)),
  "slow, one byte at a time": raw((response) => {
    response.writeHead(200, { "content-length": 4000 });
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  }),
};

for (const [fault, arrange] of Object.entries(FAULTS)) {
  test(`C177 ${fault}: turns proceed unchanged, one warning, tools answer in words`, async (t) => {
    const socketPath = await arrange(t);
    const pluginConfig = { socketPath, timeoutMs: TIMEOUT_MS, toolTimeoutMs: 200 };
    const host = new Host({ pluginConfig }).load(plugin);

    for (let n = 0; n < TURNS; n += 1) {
      const { result, elapsedMs } = await host.turn({ prompt: "hello", messages: [] });
      assert.equal(result, undefined, "nothing is injected");
      assert.ok(elapsedMs <= TIMEOUT_MS + SLACK_MS, `the turn waited ${elapsedMs} ms`);
    }

    assert.equal(host.warnings().length, 1, host.warnings().join("\n"));
    assert.match(host.warnings()[0], /memory service not available/);
    assert.deepEqual(host.log.filter(({ level }) => level === "hook-error"), []);
    for (const { name } of TOOLS) {
      const answer = await host.tool(name)({ key: "pref.a", value: "b", query: "q" });
      const late = fault.startsWith("slow") || fault === "hanging";
      assert.match(answer.content[0].text, late ? /did not answer in time/ : NOT_RUNNING_RE);
      assert.equal(answer.details.available, false);
    }
    assert.equal(host.warnings().length, 1, "still one warning after the tools");
  });
}

const NOT_RUNNING_RE = new RegExp(`^${NOT_RUNNING} \\(`);

test("C177 daemon killed in mid-answer: the turn proceeds unchanged and at once", async (t) => {
  const socketPath = scratchSocket(t);
  const server = await dyingServer(t, socketPath, "half");
  const host = new Host({ pluginConfig: { socketPath, timeoutMs: 1500 } }).load(plugin);

  const half = server.nextLine();
  const turn = host.turn({ prompt: "hello", messages: [] });
  await half;
  const killedAt = performance.now();
  await server.kill();
  const { result } = await turn;

  assert.equal(result, undefined);
  assert.ok(performance.now() - killedAt < 1000, "noticed without waiting for the deadline");
  assert.equal(host.warnings().length, 1);
});

test("C177 an answer of just 1 MiB is read, one byte more is refused", async (t) => {
  let extra = 0;
  const server = await Server.start(t, (request, response) => {
    const text = JSON.stringify(blocks("facts"));
    response.end(text + " ".repeat(ANSWER_BYTES_MAX - text.length + extra));
  });
  const host = new Host({ pluginConfig: { socketPath: server.socketPath, timeoutMs: 1500 } })
    .load(plugin);

  assert.ok((await host.turn({ prompt: "hello" })).result);
  extra = 1;
  assert.equal((await host.turn({ prompt: "hello" })).result, undefined);
  assert.match(host.warnings()[0], /larger than 1048576 bytes/);
});

test("C177 memory comes back by itself when the daemon does, and the log says so", async (t) => {
  const socketPath = scratchSocket(t);
  const host = new Host({ pluginConfig: { socketPath } }).load(plugin);
  for (let n = 0; n < 4; n += 1) await host.turn({ prompt: "hello" });
  await Server.start(t, () => blocks("facts"), socketPath);

  const deadline = performance.now() + 5000;
  let turn = await host.turn({ prompt: "hello" });
  while (!turn.result && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    turn = await host.turn({ prompt: "hello" });
  }

  assert.equal(turn.result.appendSystemContext, "facts");
  const infos = host.log.filter(({ level }) => level === "info");
  assert.equal(infos.length, 1);
  assert.match(infos[0].text, /memory service is back/);
});

test("C177 a refusal by rule is the daemon's answer, not an outage", async (t) => {
  const server = await Server.start(t, (request, response) => {
    response.statusCode = 422;
    return { protocol: 1, error: { code: "bad_request", message: "no such thing" } };
  });
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } }).load(plugin);

  for (let n = 0; n < TURNS; n += 1) await host.turn({ prompt: "hello" });
  const answer = await host.tool("clawmark_set")({ key: "pref.a", value: "b" });

  assert.match(answer.content[0].text, /refused: no such thing/);
  assert.deepEqual(host.warnings(), []);
  assert.equal(server.asked("/v1/inject").length, TURNS, "the circuit stays closed");
});
