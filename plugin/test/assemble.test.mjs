// Method: conversations drawn with a seed (turns, loops of tools, long results, several scripts,
// what goes wrong in practice), cut by many budgets; each result is checked by the rules that
// providers enforce.
import test from "node:test";
import assert from "node:assert/strict";
import { about, assembleTail, manifestOf, FRESH_TAIL } from "../engine/assemble.js";
import { messageTokens } from "../engine/tokens.js";
import { callIds, unitsOf } from "../engine/units.js";

function random(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
}

const WORDS = ["plan", "deploy", "日本語の文", "привет", "😀", "src/app.ts", "a1b2c3", "\n", "ok"];
const text = (pick, words) => Array.from({ length: 1 + pick(words) },
  () => WORDS[pick(WORDS.length)]).join(" ");

function conversation(seed, turns) {
  const pick = random(seed);
  const out = [];
  let calls = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    out.push({ role: "user", content: `${turn}: ${text(pick, 40)}` });
    for (let step = pick(4); step > 0; step -= 1) {
      const ids = Array.from({ length: 1 + pick(3) }, () => `call_${calls += 1}`);
      out.push({ role: "assistant", content: [{ type: "text", text: text(pick, 8) },
        ...ids.map((id) => ({ type: "toolCall", id, name: "ls", arguments: { path: "." } }))] });
      for (const id of ids) {
        out.push({ role: "toolResult", toolCallId: id, toolName: "ls", isError: false,
          content: [{ type: "text", text: text(pick, pick(10) === 0 ? 3000 : 60) }] });
      }
    }
    out.push({ role: "assistant", content: [{ type: "text", text: text(pick, 60) }] });
  }
  return out;
}

/** What a strict provider refuses. */
function faultsOf(messages) {
  const faults = [];
  let waiting = new Set();
  for (const message of messages) {
    if (message.role === "toolResult") {
      if (!waiting.delete(message.toolCallId)) faults.push(`result without a call`);
      continue;
    }
    if (waiting.size > 0) faults.push("call without a result");
    waiting = new Set(callIds(message));
  }
  return faults;
}

const cost = (messages) => messages.reduce((all, message) => all + messageTokens(message), 0);
const isUser = (message) => message.role === "user";

test("every budget: pairs intact, within it, newest user turn there, oldest first", () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const messages = conversation(seed, 1 + seed % 30);
    for (const tokenBudget of [300, 1000, 4000, 20_000, 200_000, undefined]) {
      const { messages: got, tokens, omitted } = assembleTail({ messages, tokenBudget });
      assert.deepEqual(faultsOf(got), [], `seed ${seed} budget ${tokenBudget}`);
      assert.equal(tokens, cost(got));
      assert.ok(tokens <= (tokenBudget ?? Infinity), `${tokens} > ${tokenBudget}, seed ${seed}`);
      assert.ok(got.length + omitted === messages.length || omitted > 0);
      const newest = messages.findLast(isUser).content.slice(0, 4);
      assert.ok(got.some((message) => isUser(message) && message.content.startsWith(newest)),
        `newest user turn, seed ${seed} budget ${tokenBudget}`);
      assert.ok(isUser(got[0]), `begins with a person, seed ${seed} budget ${tokenBudget}`);
    }
  }
});

test("a loop of 40 tool calls after a person's last word leaves that word and the newest", () => {
  const messages = conversation(3, 2);
  messages.push({ role: "user", content: "now do it all" });
  for (let n = 0; n < 40; n += 1) {
    messages.push({ role: "assistant", content: [{ type: "toolCall", id: `x${n}`, name: "run",
      arguments: {} }] }, { role: "toolResult", toolCallId: `x${n}`,
      content: [{ type: "text", text: "out ".repeat(2000) }] });
  }
  const { messages: got } = assembleTail({ messages, tokenBudget: 3000 });
  assert.deepEqual(faultsOf(got), []);
  assert.equal(got[0].content, "now do it all");
  assert.equal(got.at(-1).toolCallId, "x39");
  assert.ok(cost(got) <= 3000);
});

test("what providers refuse is mended: results without call, calls without result, twice", () => {
  const call = (id) => ({ type: "toolCall", id, name: "ls", arguments: {} });
  const result = (id) => ({ role: "toolResult", toolCallId: id, content: [] });
  const messages = [
    result("lost"), { role: "user", content: "a" },
    { role: "assistant", content: [{ type: "text", text: "looking" }, call("1"), call("2")] },
    result("2"), { role: "user", content: "wait" }, result("2"),
    { role: "assistant", content: [call("3")] }, { role: "user", content: "b" }, null,
    { role: "assistant", content: [call("4")] }];
  const got = unitsOf(messages).flatMap((unit) => unit.messages);
  assert.deepEqual(got.map((message) => message.role),
    ["user", "assistant", "toolResult", "user", "user", "assistant"]);
  assert.deepEqual(callIds(got[1]), ["2"]);
  assert.deepEqual(callIds(got.at(-1)), ["4"], "the newest call is still at work");
});

test("300 turns: the tail stays flat, and its beginning stays put for many turns", () => {
  const messages = conversation(7, 300);
  const ends = messages.flatMap((message, at) => (isUser(message) ? [at] : []));
  let previous = [];
  let whole = 0;
  const sizes = [];
  for (const end of ends.slice(40)) {
    const { messages: got } = assembleTail({ messages: messages.slice(0, end + 1),
      tokenBudget: 1_000_000 });
    const now = got.map((message) => JSON.stringify(message));
    if (previous.every((message, at) => message === now[at])) whole += 1;
    sizes.push(got.length);
    previous = now;
  }
  assert.ok(Math.max(...sizes) <= 4 * FRESH_TAIL + 20, `${Math.max(...sizes)}`);
  const share = whole / sizes.length;
  assert.ok(share >= 0.8, `all that was shown came again in only ${share} of the turns`);
});

test("without anything to find it again, only the budget leaves messages out", () => {
  const messages = conversation(9, 60);
  const { messages: got, omitted } = assembleTail({ messages, keepAll: true });
  assert.equal(omitted, 0);
  assert.equal(got.length, messages.length);
});

test("the manifest is empty while all is shown, and changes seldom after", () => {
  assert.equal(manifestOf({ omitted: 0, stored: 900 }), "");
  const texts = new Set();
  for (let stored = 21; stored <= 847; stored += 1) texts.add(manifestOf({ omitted: 5, stored }));
  assert.ok(texts.size <= 6, `${texts.size}`);
  assert.match(manifestOf({ omitted: 800, stored: 847 }), /more than 500 messages/);
  assert.equal(about(12_345), "more than 10,000 messages");
});
