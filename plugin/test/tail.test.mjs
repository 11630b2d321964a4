import assert from "node:assert/strict";
import test from "node:test";
import { freshTail, withWholePairs } from "../engine/tail.js";
import { messageTokens } from "../engine/tokens.js";

const user = (text, more) => ({ role: "user", content: text, ...more });
const answer = (text) => ({ role: "assistant", content: [{ type: "text", text }] });
const calls = (...ids) => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "exec", arguments: { command: "ls" } })),
});
const result = (id, text = "ok") => ({
  role: "toolResult",
  toolCallId: id,
  content: [{ type: "text", text }],
});
const total = (messages) => messages.reduce((sum, message) => sum + messageTokens(message), 0);

/** Numbers that look random and are the same in every run. */
function dice(seed) {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

function conversation(seed, turns) {
  const roll = dice(seed);
  const out = [];
  for (let turn = 0; turn < turns; turn += 1) {
    out.push(
      user(`turn ${turn} ${"word ".repeat(roll(40))}`, {
        timestamp: 1_790_000_000_000 + turn * 60_000,
      }),
    );
    for (let loop = roll(3); loop > 0; loop -= 1) {
      const ids = Array.from({ length: 1 + roll(3) }, (_, k) => `call-${turn}-${loop}-${k}`);
      out.push(calls(...ids), ...ids.map((id) => result(id, "line\n".repeat(roll(300)))));
    }
    if (roll(10) > 0) out.push(answer("so it is ".repeat(1 + roll(60))));
  }
  return out;
}

function assertWholePairs(messages) {
  const called = new Set(
    messages.flatMap(({ content }) =>
      (Array.isArray(content) ? content : [])
        .filter(({ type }) => type === "toolCall")
        .map(({ id }) => id),
    ),
  );
  const answered = new Set(messages.map(({ toolCallId }) => toolCallId).filter(Boolean));
  for (const id of answered) assert.ok(called.has(id), `a result without its call ${id}`);
  for (const message of messages.slice(0, -1)) {
    for (const part of Array.isArray(message.content) ? message.content : []) {
      if (part.type === "toolCall")
        assert.ok(answered.has(part.id), `a call without its result ${part.id}`);
    }
  }
}

test("whatever the conversation and the budget: within it, pairs whole, newest turn there", () => {
  for (let seed = 1; seed <= 400; seed += 1) {
    const roll = dice(seed * 7919);
    const all = conversation(seed, 1 + roll(60));
    const tokens = 60 + roll(seed % 2 ? 400 : 20_000);
    const tail = freshTail(all, { tokens, messages: 1 + roll(40) });
    assert.ok(tail.tokens <= tokens, `seed ${seed}: ${tail.tokens} > ${tokens}`);
    assert.equal(tail.tokens, total(tail.messages));
    assertWholePairs(tail.messages);
    const newest = all.findLast(({ role }) => role === "user");
    const there = tail.messages.find(
      ({ role, timestamp }) => role === "user" && timestamp === newest.timestamp,
    );
    assert.ok(there, `seed ${seed}: the newest user turn is missing (${tokens} tokens)`);
    assert.equal(tail.messages[0].role, "user", `seed ${seed}`);
    assert.equal(tail.left, all.length - tail.messages.length);
  }
});

test("nothing at all, a single message, no user at all, things that are no messages", () => {
  assert.deepEqual(freshTail([], { tokens: 100, messages: 20 }).messages, []);
  assert.equal(freshTail([user("x")], { tokens: 100, messages: 20 }).messages.length, 1);
  assert.equal(
    freshTail([answer("a"), answer("b")], { tokens: 100, messages: 20 }).messages.length,
    2,
  );
  assert.equal(
    freshTail([null, 7, user("x"), undefined], { tokens: 100, messages: 20 }).messages.length,
    1,
  );
  assert.deepEqual(freshTail([user("x")], { tokens: 0, messages: 20 }).messages, []);
});

test("a turn longer than the budget keeps what was asked and the newest results, shortened", () => {
  const turn = [
    user("do it"),
    calls("a"),
    result("a", "old ".repeat(20_000)),
    calls("b"),
    result("b", "new ".repeat(20_000)),
  ];
  const tail = freshTail([user("earlier"), answer("yes"), ...turn], { tokens: 900, messages: 20 });
  assert.ok(tail.tokens <= 900);
  assert.equal(tail.messages[0].content, "do it");
  assert.equal(tail.messages.at(-1).toolCallId, "b");
  assert.match(tail.messages.at(-1).content[0].text, /shortened; the whole is kept/);
  assertWholePairs(tail.messages);
});

test("a message of the user that is longer than the budget is cut and not dropped", () => {
  const tail = freshTail([user("x".repeat(200) + " word".repeat(50_000))], {
    tokens: 300,
    messages: 20,
  });
  assert.equal(tail.messages.length, 1);
  assert.ok(tail.tokens <= 300 && tail.tokens > 150, String(tail.tokens));
});

test("calls and results without each other go; the open call of a running turn stays", () => {
  assert.deepEqual(withWholePairs([result("gone"), user("x")]), [user("x")]);
  assert.deepEqual(withWholePairs([calls("lost"), user("x")]), [user("x")]);
  const mixed = {
    role: "assistant",
    content: [{ type: "text", text: "I look" }, ...calls("lost").content],
  };
  assert.deepEqual(withWholePairs([mixed, user("x")])[0].content, [
    { type: "text", text: "I look" },
  ]);
  assert.deepEqual(withWholePairs([user("x"), calls("running")]), [user("x"), calls("running")]);
});

/** How much of the shorter of two requests is the same from its beginning. */
function commonShare(before, after) {
  const a = JSON.stringify(before);
  const b = JSON.stringify(after);
  let same = 0;
  while (same < a.length && a[same] === b[same]) same += 1;
  return same / (a.length - 1); // the closing bracket moves
}

test("of 300 turns at least 95 in 100 have the whole of the turn before as their beginning", () => {
  const all = conversation(42, 300);
  const starts = all.flatMap(({ role }, i) => (role === "user" ? [i] : []));
  let start;
  let before;
  let stable = 0;
  let longest = 0;
  for (let turn = 1; turn < starts.length; turn += 1) {
    const tail = freshTail(all.slice(0, starts[turn]), { tokens: 60_000, messages: 20, start });
    start = tail.start;
    longest = Math.max(longest, tail.messages.length);
    if (before && commonShare(before, tail.messages) >= 0.999) stable += 1;
    before = tail.messages;
  }
  assert.ok(longest <= 200, `${longest} messages`);
  assert.ok(stable >= 0.95 * (starts.length - 2), `${stable} of ${starts.length - 2}`);
});

test("a start that undo has taken away is replaced by a fresh one", () => {
  const all = conversation(5, 30);
  const tail = freshTail(all, { tokens: 50_000, messages: 20 });
  const again = freshTail(all.slice(0, 6), { tokens: 50_000, messages: 20, start: tail.start });
  assert.equal(again.messages[0].role, "user");
  assert.ok(again.messages.length > 0);
});
