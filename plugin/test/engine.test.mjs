import test from "node:test";
import assert from "node:assert/strict";
import plugin from "../index.js";
import { ENGINE_ID, makeEngine } from "../engine.js";
import { estimateTokens } from "../engine/assemble.js";
import { Host } from "./support/host.mjs";

const talk = (turns, size = 20) => Array.from({ length: turns }, (_, n) => [
  { role: "user", content: `question ${n} ${"word ".repeat(size)}` },
  { role: "assistant", content: [{ type: "text", text: `answer ${n} ${"word ".repeat(size)}` }] },
]).flat();

/** A service that finds so many messages of the caller's conversation, and holds so many. */
function service(total, held) {
  const asked = [];
  return { asked, ask: async (path, body) => {
    asked.push({ path, body });
    if (total === undefined) return { ok: false, kind: "absent" };
    return { ok: true, value: { open: total > 0, stored: total, held } };
  } };
}

const config = { freshTailCount: 20, timeoutMs: 300 };
const turn = (messages, more = {}) => ({ sessionId: "s", sessionKey: "agent:main:dashboard:1",
  messages, ...more });

test("the engine is registered beside hooks and tools, and hosts without it do without", () => {
  const host = new Host();
  const engines = new Map();
  host.api.registerContextEngine = (id, factory) => engines.set(id, factory);
  host.load(plugin);
  const engine = engines.get(ENGINE_ID)({ config: {} });
  assert.equal(engine.info.id, ENGINE_ID);
  assert.deepEqual(Object.keys(engine.info.transcriptSemantics),
    ["currentTurnFence", "turnAdvancementIdempotency"]);
  for (const method of ["bootstrap", "ingest", "assemble", "compact", "commitTurn", "maintain",
    "dispose"]) assert.equal(typeof engine[method], "function", method);
  new Host().load(plugin);
});

test("a long conversation costs as much as a short one; what is left out is named", async () => {
  const link = service(2000);
  const engine = makeEngine({ link, config });
  const long = await engine.assemble(turn(talk(1000)));
  assert.ok(long.messages.length >= 20 && long.messages.length <= 100, `${long.messages.length}`);
  assert.equal(long.messages.at(-1).content[0].text.slice(0, 10), "answer 999");
  assert.match(long.systemPromptAddition, /more than 2,000 messages are stored outside/);
  const short = await engine.assemble(turn(talk(5), { sessionKey: "agent:main:dashboard:2" }));
  assert.equal(short.messages.length, 10);
  assert.equal(short.systemPromptAddition, undefined);
  assert.equal(link.asked[0].path, "/v1/assemble");
  assert.equal(link.asked[0].body.caller.session_key, "agent:main:dashboard:1");
});

test("no note stands where the prompt alone nearly fills the budget", async () => {
  const engine = makeEngine({ link: service(2000, 2000), config });
  const prompt = "word ".repeat(12_000);
  const alone = estimateTokens(prompt);
  for (const more of [0, 10, 50, 90, 120, 400]) {
    const got = await engine.assemble(turn(talk(200), { prompt, tokenBudget: alone + more,
      sessionKey: `agent:main:dashboard:full-${more}` }));
    assert.ok(got.estimatedTokens <= more, `${more}: ${got.estimatedTokens}`);
    assert.ok(more < 400 || got.systemPromptAddition, "where there is room, it says what it holds");
  }
});

test("a message that was changed meanwhile is shown as it is now", async () => {
  const engine = makeEngine({ link: service(1e5, 1e5), config });
  const messages = [{ role: "user", content: "look" },
    { role: "assistant", content: [{ type: "toolCall", id: "a", name: "f", arguments: {} }] },
    { role: "toolResult", toolCallId: "a", content: [{ type: "text", text: "SECRET-1234" }] },
    { role: "assistant", content: [{ type: "text", text: "done" }] }];
  const more = { sessionKey: "agent:main:dashboard:changed", prompt: "again", tokenBudget: 50_000 };
  await engine.assemble(turn(messages, more));
  const changed = structuredClone(messages);
  changed[2].content[0].text = "[removed]";
  const got = await engine.assemble(turn(changed, more));
  assert.equal(got.messages[2].content[0].text, "[removed]");
});

test("what the service does not hold is shown: away, behind, closed or incognito", async () => {
  const all = talk(100);
  for (const [name, link, more] of [
    ["away", service(undefined), { sessionKey: "agent:main:dashboard:3" }],
    ["behind", service(7), { sessionKey: "agent:main:dashboard:4" }],
    ["nothing in sight", service(0), { sessionKey: "agent:main:dashboard:5" }],
    ["incognito", service(500), { sessionKey: "agent:main:incognito-1" }]]) {
    const got = await makeEngine({ link, config }).assemble(turn(all, more));
    assert.equal(got.messages.length, all.length, name);
  }
});

test("while the service lags, what it holds stays outside, and a tail more is shown", async () => {
  const link = service(150);
  const lagging = await makeEngine({ link, config }).assemble(
    turn(talk(150), { sessionKey: "agent:main:dashboard:lag" }));
  assert.equal(lagging.messages.length, 300 - (150 - 20), "not the whole conversation");
  assert.match(lagging.messages[0].content, /^question 65 /);
  assert.match(lagging.systemPromptAddition, /messages are stored outside/);
});

test("calls of tools without a word are held, though no tool finds them", async () => {
  const working = await makeEngine({ link: service(150, 300), config }).assemble(
    turn(talk(150), { sessionKey: "agent:main:dashboard:working" }));
  assert.ok(working.messages.length <= 100, `${working.messages.length}`);
  const lagging = await makeEngine({ link: service(900, 150), config }).assemble(
    turn(talk(150), { sessionKey: "agent:main:dashboard:after-a-reset" }));
  assert.equal(lagging.messages.length, 300 - (150 - 20), "what older sessions have is no help");
});

test("the budget holds whatever the service says, with a place for the newest word", async () => {
  const prompt = "word ".repeat(500);
  for (const total of [undefined, 2000]) {
    const got = await makeEngine({ link: service(total), config }).assemble(
      turn(talk(300, 200), { tokenBudget: 8000, prompt,
        sessionKey: `agent:main:dashboard:${total}` }));
    assert.ok(got.estimatedTokens <= 8000 - 500, `${got.estimatedTokens}`);
    assert.ok(got.messages.length > 0);
  }
});

test("compaction on request shortens the tail, says so, and admits when it cannot", async () => {
  const engine = makeEngine({ link: service(5000), config });
  const request = turn(talk(300, 200), { tokenBudget: 20_000,
    sessionKey: "agent:main:dashboard:6" });
  const before = await engine.assemble(request);
  const compacted = await engine.compact({ ...request, force: true });
  assert.equal(compacted.compacted, true);
  assert.match(compacted.reason, /nothing was summarised or deleted/);
  const after = await makeEngine({ link: service(5000), config }).assemble(request);
  assert.ok(after.estimatedTokens < before.estimatedTokens);
  assert.ok(after.estimatedTokens <= 12_000);
  let last;
  for (let n = 0; n < 6; n += 1) last = await engine.compact(request);
  assert.equal(last.compacted, false);
});

test("after a compaction the same word gets the shorter request that was foretold", async () => {
  for (const [name, contextMode] of [["r", "recursive"], ["w", "world"]]) {
    for (const [held, tokenBudget] of [[5000, 8400], [5000, 200_000], [0, 200_000]]) {
      const link = service(held);
      link.insist = link.ask;
      const of = () => makeEngine({ link, config: { ...config, contextMode } });
      const request = turn(talk(60, 60), { tokenBudget, prompt: "go on",
        sessionKey: `agent:main:dashboard:foretold-${name}-${held}-${tokenBudget}` });
      let shown = await of().assemble(request);
      assert.deepEqual(await of().assemble({ ...request, messages: shown.messages }), shown);
      let done;
      for (let n = 0; n < 9; n += 1) {
        done = await of().compact({ ...request, force: true });
        const next = await of().assemble({ ...request, messages: structuredClone(talk(60, 60)) });
        if (!done.compacted) break;
        assert.deepEqual(done.result, { tokensBefore: shown.estimatedTokens,
          tokensAfter: next.estimatedTokens });
        assert.ok(next.estimatedTokens < shown.estimatedTokens);
        assert.equal(/does not hold \d+ messages/.test(done.reason), held === 0, done.reason);
        shown = next;
      }
      assert.equal(done.compacted, false, "until there is nothing left to cut");
      assert.ok(shown.messages.length > 0);
      const later = await of().assemble({ ...request, messages: talk(80, 60), prompt: "later" });
      assert.ok(later.messages.length > 40, "the tail grows again from there");
    }
  }
});

test("a compaction shortens the newest turn, until a newer one comes", async () => {
  const engine = makeEngine({ link: service(5000), config });
  const messages = [{ role: "user", content: "read it" }];
  for (let n = 0; n < 20; n += 1) {
    messages.push({ role: "assistant", content: [{ type: "toolCall", id: `x${n}`, name: "run",
      arguments: {} }] }, { role: "toolResult", toolCallId: `x${n}`,
      content: [{ type: "text", text: "out ".repeat(500) }] });
  }
  const request = turn(messages, { tokenBudget: 20_000, prompt: "read it",
    sessionKey: "agent:main:dashboard:newest" });
  const before = await engine.assemble(request);
  const done = await engine.compact(request);
  assert.match(done.reason, /the newest turn is shortened; nothing was summarised or deleted/);
  const after = await engine.assemble({ ...request, messages: [...messages] });
  assert.equal(done.result.tokensAfter, after.estimatedTokens);
  assert.ok(after.estimatedTokens <= before.estimatedTokens * 0.6);
  const later = await engine.assemble({ ...request, prompt: "and?",
    messages: [...messages, { role: "user", content: "and?" }] });
  assert.ok(later.estimatedTokens > after.estimatedTokens, `${later.estimatedTokens}`);
});

test("what was never shown here is not compacted, and the answer says so", async () => {
  const done = await makeEngine({ link: service(5000), config }).compact(turn([], {
    sessionKey: "agent:main:dashboard:never-shown", tokenBudget: 8000 }));
  assert.equal(done.compacted, false);
  assert.match(done.reason, /shown nothing of the conversation/);
});

test("whatever goes wrong, the budget holds and the newest word is there", async () => {
  const warned = [];
  const links = [{ ask: async () => { throw new Error("boom"); } },
    { ask: async () => ({ ok: true, value: null }) },
    { ask: async () => ({ ok: true,
      value: { open: true, stored: "many", held: {}, block: {} } }) }];
  for (const [n, link] of links.entries()) {
    for (const contextMode of ["recursive", "world"]) {
      const got = await makeEngine({ link, config: { ...config, contextMode },
        logger: { warn: (text) => warned.push(text) } }).assemble(turn(talk(200, 60), {
        tokenBudget: 8000, sessionKey: `agent:main:dashboard:wrong-${contextMode}-${n}` }));
      assert.ok(got.estimatedTokens <= 8000 && got.messages.length > 20, `${n} ${contextMode}`);
      assert.match(got.messages.at(-1).content[0].text, /^answer 199/);
    }
  }
  assert.match(warned[0], /only the budget limits what is shown: boom/);
  const odd = [{ role: "user", content: [{ type: "toolCall", arguments: { big: 1n } }] }];
  assert.equal((await makeEngine({ link: service(1), config }).assemble(turn(odd))).messages.length,
    1);
});

test("what the service was told stands in for the plugin's own setting, which wins", async () => {
  const link = { ...service(5000), context: { fresh_tail: 100, mode: "repl" } };
  const messages = talk(500);
  const length = async (more) => (await makeEngine({ link, config: { ...config, ...more } })
    .assemble(turn(messages, { sessionKey: `agent:main:dashboard:t${JSON.stringify(more)}` })))
    .messages.length;
  assert.ok(await length({}) >= 100);
  assert.ok(await length({ freshTailIsSet: true }) < 100);
  const told = await makeEngine({ link, config }).assemble(turn(messages));
  assert.match(told.systemPromptAddition, /rc_repl runs a script over them/);
});

test("a turn is committed once, however often the host asks", async () => {
  const engine = makeEngine({ link: service(1), config });
  const commit = { advancementKey: "turn-1", sessionId: "s", messages: [] };
  assert.deepEqual(await engine.commitTurn(commit), { status: "committed" });
  assert.deepEqual(await makeEngine({ link: service(1), config }).commitTurn(commit),
    { status: "duplicate" });
});

test("nothing that the host or the service does makes it throw", async () => {
  const broken = { ask: async () => { throw new Error("boom"); } };
  for (const link of [broken, service(undefined), { ask: async () => ({ ok: true, value: {} }) }]) {
    const engine = makeEngine({ link, config, logger: { warn() {} } });
    for (const odd of [undefined, {}, { messages: null }, { messages: [null, 3, {}] },
      { messages: talk(3), tokenBudget: -1 }, { messages: talk(3), tokenBudget: Number.NaN }]) {
      const got = await engine.assemble(odd);
      assert.ok(Array.isArray(got.messages));
      assert.ok(Number.isFinite(got.estimatedTokens));
    }
    assert.equal((await engine.compact(undefined)).ok, true);
    assert.ok((await engine.commitTurn(undefined)).status);
  }
});
