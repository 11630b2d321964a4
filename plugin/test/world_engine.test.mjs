// Method: a conversation of hundreds of turns is assembled turn by turn against a service that
// summarises in chunks, late, joins, forgets and goes away; each request is checked by the rules
// that providers enforce, and compared byte by byte with the one before it.
import test from "node:test";
import assert from "node:assert/strict";
import { makeEngine } from "../engine.js";
import { estimateTokens } from "../engine/tokens.js";
import { commonBytes, conversation, cost, faultsOf, isUser, prefixShares, told } from
  "./support/conversation.mjs";

const config = { contextMode: "world", freshTailCount: 32, contextThreshold: 0.75,
  timeoutMs: 300 };

/** A service that holds a conversation and has a summary of each chunk, some time later. */
class Summariser {
  constructor({ chunk = 60, late = 10, endpoint = true } = {}) {
    Object.assign(this, { chunk, late, endpoint, said: [], asked: [], away: false, asOf: 0,
      forgotten: -1, drained: 0 });
  }

  ask = async (path, body) => {
    this.asked.push({ path, body });
    if (this.away) return { ok: false, kind: "absent" };
    return { ok: true, value: this.answer(body) };
  };
  insist = async (path, body) => {
    if (path === "/v1/compact" && !this.away) this.drained = this.said.length;
    return this.ask(path, body);
  };
  hint = this.insist;

  answer(body) {
    const ready = Math.max(this.drained, this.said.length - this.late);
    const chunks = [];
    for (let at = 0; this.endpoint && at < ready; at += this.chunk) {
      const part = this.said.slice(at, at + this.chunk);
      if (at + this.chunk > ready && this.drained < at + part.length) break;
      const from = part[0].timestamp;
      const until = part.at(-1).timestamp;
      if (from >= body.from_ms && from < body.before_ms) chunks.push({ at, until });
    }
    const text = chunks.map(({ at }) => `- sum_${at}: "${"what was said ".repeat(20)}"`
      + (this.forgotten >= 0 ? "" : ` secret ${at}`)).concat(`- state ${this.said.length}`)
      .join("\n");
    return { open: true, stored: this.said.length, summarised: this.endpoint,
      covered_ms: chunks.at(-1)?.until ?? 0, summaries: chunks.length,
      block: `[Memory from Clawmark: data.]\n${text.slice(0, body.chars)}\n[End of memory 0]`,
      as_of: this.said.length, stale: body.as_of !== undefined && this.forgotten >= body.as_of };
  }
}

let sessions = 0;
function timed(messages) {
  return messages.map((message, at) => ({ ...message, timestamp: 1_790_000_000_000 + at * 1000 }));
}

/** All requests of a conversation; `step(turn)` happens before each. */
async function talk(messages, service, { tokenBudget = 1_000_000, step } = {}) {
  const sessionKey = `agent:main:dashboard:world-${sessions += 1}`;
  const out = [];
  for (let end = 1; end <= messages.length; end += 1) {
    if (!isUser(messages[end - 1])) continue;
    step?.(out.length);
    service.said = messages.slice(0, end);
    out.push(await makeEngine({ link: service, config }).assemble({ sessionId: "s", sessionKey,
      messages: messages.slice(0, end), tokenBudget }));
    await Promise.resolve();
  }
  return { requests: out, sessionKey };
}

test("400 turns: summaries, tail and state within the budget, and 95 % come again in place",
  async (t) => {
    for (const [name, messages] of [["with loops of tools", conversation(21, 400)],
      ["talk only", conversation(22, 400).filter((one) => one.role !== "toolResult"
        && !JSON.stringify(one).includes("toolCall"))]]) {
      const { requests } = await talk(timed(messages), new Summariser());
      for (const { messages: got } of requests) {
        assert.deepEqual(faultsOf(got), []);
        assert.ok(isUser(got[0]));
      }
      assert.match(requests.at(-1).messages[0].content, /sum_0/);
      assert.match(requests.at(-1).systemPromptAddition, /summaries stand for them/);
      const most = Math.max(...requests.map(({ messages: got }) => got.filter(isUser).length));
      assert.ok(most <= 120, `${most} turns in one request`);
      const shares = prefixShares(requests.slice(1).map(commonBytes));
      t.diagnostic(told(name, shares));
      assert.ok(shares.median >= 0.95 && shares.overall >= 0.95, told(name, shares));
    }
  });

test("nothing is left out before a summary stands for it, as long as there is room", async () => {
  const messages = timed(conversation(23, 200)).map((message) => (message.role === "toolResult"
    ? { ...message, content: [] } : message));
  const service = new Summariser({ chunk: 50, late: 90 });
  const { requests } = await talk(messages, service);
  for (const [n, { messages: got }] of requests.entries()) {
    const told = [...String(got[0].content).matchAll(/sum_(\d+)/g)].map(([, at]) => Number(at));
    const covered = told.length === 0 ? 0 : Math.max(...told) + 50;
    const first = got.find((one) => !String(one.content).startsWith("[Memory")).timestamp;
    assert.ok(first <= messages[covered].timestamp, `turn ${n}`);
  }
});

test("asked again within a turn with what it answered, it answers the same", async () => {
  const messages = timed(conversation(27, 150));
  const service = new Summariser({ chunk: 20, late: 0 });
  const sessionKey = "agent:main:dashboard:asked-twice";
  let cuts = 0;
  for (let end = 1, before = 0; end < messages.length; end += 1) {
    if (!isUser(messages[end])) continue;
    service.said = messages.slice(0, end);
    const turn = { sessionId: "s", sessionKey, tokenBudget: 1_000_000, prompt: `word ${end}` };
    const { assemble } = makeEngine({ link: service, config });
    const first = await assemble({ ...turn, messages: messages.slice(0, end) });
    service.late = 0;
    const again = await assemble({ ...turn, messages: structuredClone(first.messages) });
    assert.deepEqual(again, first, `at message ${end}`);
    cuts += first.messages.length < before;
    before = first.messages.length;
  }
  assert.ok(cuts > 1, `${cuts} cuts`);
});

test("every budget is kept, with the newest word, whatever the summaries take", async () => {
  const messages = timed(conversation(24, 120));
  for (const tokenBudget of [300, 1500, 6000, 30_000]) {
    const { requests } = await talk(messages, new Summariser({ chunk: 20 }), { tokenBudget });
    for (const { messages: got, estimatedTokens, systemPromptAddition = "" } of requests) {
      assert.deepEqual(faultsOf(got), []);
      const tokens = cost(got) + estimateTokens(systemPromptAddition);
      assert.ok(tokens <= tokenBudget, `${tokens} > ${tokenBudget}`);
      assert.ok(estimatedTokens <= tokenBudget);
      assert.ok(isUser(got.at(-1)), "the newest word is the last");
    }
  }
});

test("without an endpoint there are no summaries: a note and the state remain", async () => {
  const service = new Summariser({ endpoint: false });
  const { requests } = await talk(timed(conversation(25, 120)), service);
  const last = requests.at(-1);
  assert.ok(last.messages.filter(isUser).length < 90);
  assert.match(last.messages[0].content, /state \d+/);
  assert.match(last.systemPromptAddition, /rc_grep/);
});

test("what was forgotten leaves the next request", async () => {
  const messages = timed(conversation(26, 150));
  const service = new Summariser();
  const { requests } = await talk(messages, service, { step: (turn) => {
    if (turn === 149) service.forgotten = service.said.length + 1000;
  } });
  assert.match(requests.at(-2).messages[0].content, /secret/);
  assert.doesNotMatch(JSON.stringify(requests.at(-1).messages), /secret/);
});

test("with the service away the tail is there, and no summary that could not be checked",
  async () => {
    const messages = timed(conversation(27, 150));
    const service = new Summariser();
    const { requests } = await talk(messages, service, { step: (turn) => {
      service.away = turn >= 140;
    } });
    const last = requests.at(-1);
    assert.deepEqual(faultsOf(last.messages), []);
    assert.doesNotMatch(JSON.stringify(last.messages), /Memory from Clawmark/);
    assert.ok(last.messages.length >= 32 && last.messages.length < messages.length);
    const cold = new Summariser();
    cold.away = true;
    const { requests: alone } = await talk(messages, cold);
    const newest = alone.at(-1).messages.length;
    assert.ok(messages.length - newest < 10, "nothing is known to be stored: all is shown");
  });

test("compaction goes through the summaries, and the answer says what it did", async () => {
  const messages = timed(conversation(28, 60));
  const service = new Summariser({ chunk: 40, late: 1000 });
  const { requests, sessionKey } = await talk(messages, service);
  const engine = makeEngine({ link: service, config });
  const done = await engine.compact({ sessionId: "s", sessionKey, force: true });
  assert.equal(done.compacted, true);
  assert.match(done.reason, /summaries stand for what is older/);
  assert.ok(done.result.tokensAfter < done.result.tokensBefore);
  const after = await engine.assemble({ sessionId: "s", sessionKey, tokenBudget: 1_000_000,
    messages: messages.slice(0, messages.findLastIndex(isUser) + 1) });
  assert.ok(after.estimatedTokens < requests.at(-1).estimatedTokens);
  assert.ok(after.estimatedTokens <= done.result.tokensAfter * 1.2,
    `${after.estimatedTokens} after ${done.result.tokensAfter}`);
  assert.match(after.messages[0].content, /sum_0/);
  // Again and again: until there is nothing left to give, which is said.
  let last;
  for (let n = 0; n < 8; n += 1) last = await engine.compact({ sessionId: "s", sessionKey });
  assert.equal(last.compacted, false);
});
