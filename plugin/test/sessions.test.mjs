import test from "node:test";
import assert from "node:assert/strict";
import plugin from "../index.js";
import { globMatches, sessionClass } from "../sessions.js";
import { Host } from "./support/host.mjs";
import { Server, blocks, until } from "./support/server.mjs";

async function arrange(t, pluginConfig = {}) {
  const server = await Server.start(t, ({ path }) => (path.startsWith("/v1/tools/")
    ? { protocol: 1, ok: true, text: "Remembered.", details: {} } : blocks("a private fact")));
  const host = new Host({ pluginConfig: { ...pluginConfig, socketPath: server.socketPath } })
    .load(plugin);
  const turn = async (context) => {
    const before = server.requests.length;
    const { result } = await host.turn({ prompt: "remember the colour is red" }, context);
    return { injected: result !== undefined, asked: server.requests.length > before };
  };
  return { server, host, turn };
}

const NOT_PEOPLE = {
  "sub-agent": { sessionKey: "agent:main:subagent:q1" },
  "active-memory run": { sessionKey: "agent:main:main:active-memory" },
  "web hook": { sessionKey: "agent:main:hook:gmail:1" },
  "cron": { sessionKey: "agent:main:cron:x" },
  "cron run": { sessionKey: "agent:main:cron:x:run:1" },
  "heartbeat": { sessionKey: "agent:main:heartbeat" },
  "heartbeat in the main session": { sessionKey: "agent:main:main", trigger: "heartbeat" },
  "isolated heartbeat": { sessionKey: "agent:main:main:heartbeat" },
  "cron in the main session": { sessionKey: "agent:main:main", trigger: "cron" },
  "memory flush": { sessionKey: "agent:main:main", trigger: "memory" },
  "another agent": { sessionKey: "agent:main:main", inputProvenance: { kind: "inter_session" } },
  "internal": { sessionKey: "agent:main:main", inputProvenance: { kind: "internal_system" } },
};

for (const [name, context] of Object.entries(NOT_PEOPLE)) {
  test(`C184 ${name}: no injection by default, nothing is even asked`, async (t) => {
    const { turn } = await arrange(t);
    assert.deepEqual(await turn(context), { injected: false, asked: false });
  });
}

for (const sessionKey of ["agent:main:main", "agent:main:telegram:direct:101",
  "agent:cron:main", "agent:subagent:telegram:group:-100", undefined]) {
  test(`C184 people are asked for: ${sessionKey}`, async (t) => {
    const { turn } = await arrange(t);
    const outcome = await turn({ sessionKey, inputProvenance: { kind: "external_user" } });
    assert.deepEqual(outcome, { injected: true, asked: true });
  });
}

test("C184 globs allow a job, deny wins", async (t) => {
  const { turn } = await arrange(t, {
    allowSessions: ["agent:main:cron:daily-*", "agent:*:subagent:q?"],
    denySessions: ["*:cron:daily-secret", "agent:main:telegram:group:*"],
  });
  const injected = async (sessionKey) => (await turn({ sessionKey })).injected;
  assert.equal(await injected("agent:main:cron:daily-report"), true);
  assert.equal(await injected("agent:main:subagent:q1"), true);
  assert.equal(await injected("agent:main:subagent:q11"), false);
  assert.equal(await injected("agent:main:cron:weekly"), false);
  assert.equal(await injected("agent:main:cron:daily-secret"), false);
  assert.equal(await injected("agent:main:telegram:group:-100"), false);
  assert.equal(await injected("agent:main:main"), true);
});

const INCOGNITO = ["agent:main:dashboard:incognito-1234", "agent:main:subagent:incognito-9",
  "AGENT:main:dashboard:Incognito-5"];

for (const sessionKey of INCOGNITO) {
  test(`C184 incognito is never sent, whatever is allowed: ${sessionKey}`, async (t) => {
    const { server, host, turn } = await arrange(t, { allowSessions: ["*"] });
    await host.startServices();
    t.after(() => host.stopServices());
    const hellos = await until(() => server.requests.length, "the handshake");

    assert.deepEqual(await turn({ sessionKey }), { injected: false, asked: false });
    assert.equal(host.tool("clawmark_set", { sessionKey }), null, "no tool is offered");
    assert.deepEqual(await host.corpora[0].search({ query: "x", agentSessionKey: sessionKey }), []);
    assert.equal(await host.corpora[0].get({ lookup: "clawmark/facts/a.b",
      agentSessionKey: sessionKey }), null);
    assert.match((await host.commands.get("clawmark").handler({ sessionKey, args: "facts" })).text,
      /incognito/);
    host.emitTranscript({ sessionKey, sessionId: "s", agentId: "main" });
    host.hook("session_end").handler({ sessionKey }, { sessionKey });
    host.hook("before_reset").handler({}, { sessionKey });
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(server.requests.length, hellos, JSON.stringify(server.requests.slice(hellos)));
  });
}

test("C184 an explicit set by a sub-agent reaches the daemon with its origin", async (t) => {
  const { server, host } = await arrange(t);
  await host.tool("clawmark_set", { agentId: "main", sessionKey: "agent:main:subagent:q1" })(
    { key: "pref.colour", value: "red" });
  assert.deepEqual(server.requests[0].body, {
    caller: { agent: "main", session_key: "agent:main:subagent:q1", trigger: "tool" },
    params: { key: "pref.colour", value: "red" },
  });
});

test("session classes look at the parts after the agent's name only", () => {
  const of = (sessionKey) => sessionClass({ sessionKey });
  assert.equal(of("agent:heartbeat:main"), "person");
  assert.equal(of("subagent:x"), "subagent");
  assert.equal(of("agent:main:internal-session-effects:1"), "internal");
  assert.equal(of(""), "person");
  assert.equal(of(undefined), "person");
});

test("globs: literal but for * and ?, whole key, no explosion", () => {
  assert.ok(globMatches("*", ""));
  assert.ok(globMatches("a*b*c", "aXbYbc"));
  assert.ok(!globMatches("a.b", "axb"));
  assert.ok(!globMatches("main", "agent:main"));
  assert.ok(!globMatches("a?", "a"));
  const started = performance.now();
  assert.ok(!globMatches(`${"*a".repeat(90)}b`, "a".repeat(2000)));
  assert.ok(performance.now() - started < 200);
});

test("C184 a lane that the service keeps closed is named once, with the remedy", async (t) => {
  const server = await Server.start(t, () => ({ ...blocks(), skipped: "lane" }));
  const host = new Host({ pluginConfig: { socketPath: server.socketPath,
    allowSessions: ["agent:main:cron:*"] } }).load(plugin);
  for (let n = 0; n < 3; n += 1) {
    await host.turn({ prompt: "x" }, { sessionKey: "agent:main:cron:x" });
  }
  assert.equal(host.warnings().length, 1);
  assert.match(host.warnings()[0], /agent:main:cron:x is in allowSessions.*inject_sessions/s);
});
