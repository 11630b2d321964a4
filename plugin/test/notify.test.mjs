import test from "node:test";
import assert from "node:assert/strict";
import plugin from "../index.js";
import { LONGEST_WAIT_MS, Notifier, QUIET_MS } from "../notify.js";
import { Host } from "./support/host.mjs";
import { Server, scratchSocket, until } from "./support/server.mjs";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const update = (n, session = "s-1") => ({ agentId: "main", sessionId: session,
  sessionKey: "agent:main:main", messageSeq: n, message: { content: "never sent on" } });

async function arrange(t) {
  const server = await Server.start(t, () => ({ protocol: 1 }));
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } }).load(plugin);
  await host.startServices();
  t.after(() => host.stopServices());
  return { server, host };
}

test("a burst of transcript updates becomes one hint per session, without content", async (t) => {
  const { server, host } = await arrange(t);
  for (let n = 0; n < 40; n += 1) {
    host.emitTranscript(update(n));
    host.emitTranscript(update(n, "s-2"));
  }
  await until(() => server.asked("/v1/notify").length >= 2);
  await sleep(QUIET_MS + 100);
  assert.deepEqual(server.asked("/v1/notify").map(({ body }) => body), ["s-1", "s-2"].map((id) => (
    { caller: { agent: "main", session_key: "agent:main:main", session_id: id },
      kind: "transcript" })));
});

test("updates without a pause are told after two seconds at the latest", async () => {
  const sent = [];
  const notifier = new Notifier({ link: { hint: (path, body) => sent.push(body) } });
  const started = performance.now();
  while (sent.length === 0 && performance.now() - started < LONGEST_WAIT_MS + 1500) {
    notifier.transcript(update(1));
    await sleep(50);
  }
  notifier.stop();
  assert.equal(sent.length, 1);
});

test("reloads leave no subscription behind", async (t) => {
  const { server, host } = await arrange(t);
  for (let n = 0; n < 17; n += 1) {
    await host.stopServices();
    host.services.length = 0;
    host.load(plugin);
    await host.startServices();
  }
  assert.equal(host.listeners.size, 1);
  host.emitTranscript(update(1));
  const told = () => server.asked("/v1/notify").filter(({ body }) => body.kind === "transcript");
  await until(() => told().length > 0);
  await sleep(100);
  assert.equal(told().length, 1);
  await host.stopServices();
  assert.equal(host.listeners.size, 0);
});

test("the end of a session, its reset and the gateway's stop are told at once", async (t) => {
  const { server, host } = await arrange(t);
  const context = { agentId: "main", sessionKey: "agent:main:main", sessionId: "s-1" };
  host.hook("session_end").handler({ sessionId: "s-1", reason: "idle" }, context);
  host.hook("before_reset").handler({ messages: [], reason: "reset" }, context);
  await host.stopServices();
  await until(() => server.asked("/v1/notify").length >= 3);
  const kinds = server.asked("/v1/notify").map(({ body }) => body.kind);
  assert.deepEqual(kinds.sort(), ["reset", "session_end", "shutdown"]);
});

test("hints are dropped in silence while the daemon is away", async (t) => {
  const host = new Host({ pluginConfig: { socketPath: scratchSocket(t) } }).load(plugin);
  await host.startServices();
  t.after(() => host.stopServices());
  const told = await until(() => host.warnings().length, "the handshake tells it");
  assert.equal(told, 1);
  for (let n = 0; n < 5; n += 1) host.emitTranscript(update(n, `s-${n}`));
  await sleep(QUIET_MS + 200);
  assert.equal(host.warnings().length, told);
});

test("the handshake is repeated when the daemon comes back", async (t) => {
  const socketPath = scratchSocket(t);
  const host = new Host({ pluginConfig: { socketPath } }).load(plugin);
  await host.startServices();
  t.after(() => host.stopServices());
  await host.turn({ prompt: "x" });
  const server = await Server.start(t, () => ({ protocol: 1, ok: true, text: "", details: {} }),
    socketPath);
  await host.tool("clawmark_review")({});
  await until(() => server.asked("/v1/hello").length === 1, "a second handshake");
});

test("an inert daemon is reported once", async (t) => {
  const server = await Server.start(t, () => ({ protocol: 1, version: "0.1.0", inert: true }));
  const host = new Host({ pluginConfig: { socketPath: server.socketPath } }).load(plugin);
  for (let n = 0; n < 3; n += 1) {
    await host.startServices();
    await until(() => server.asked("/v1/hello").length === n + 1);
    await host.stopServices();
  }
  await until(() => host.warnings().length > 0);
  assert.equal(host.warnings().filter((text) => /inert/.test(text)).length, 1);
});
