// Method: conversations drawn with a seed (turns, loops of tools, long results, several scripts,
// what goes wrong in practice), cut by many budgets; each result is checked by the rules that
// providers enforce.
import test from "node:test";
import assert from "node:assert/strict";
import { about, assembleTail, manifestOf, FRESH_TAIL } from "../engine/assemble.js";
import { GROW_TURNS } from "../engine/tail.js";
import { callIds, unitsOf } from "../engine/units.js";
import { commonBytes, conversation, cost, faultsOf, isUser, prefixShares, told } from
  "./support/conversation.mjs";

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

test("of calls that share an id each has its own result, or goes", () => {
  const user = (content) => ({ role: "user", content });
  const text = (said) => ({ type: "text", text: said });
  const call = (...ids) => ({ role: "assistant", content: [text("on it"),
    ...ids.map((id) => ({ type: "toolCall", id, name: "ls", arguments: {} }))] });
  const result = (id) => ({ role: "toolResult", toolCallId: id, content: [text("out")] });
  for (const [name, messages, ids] of [
    ["taken again after no result", [user("a"), call("0"), user("b"), call("0"), result("0")],
      [[], ["0"]]],
    ["taken again after a result", [user("a"), call("0"), result("0"), call("0"), result("0")],
      [["0"], ["0"]]],
    ["twice in one message", [user("a"), call("0", "0"), result("0"), result("0")], [["0"]]]]) {
    const got = unitsOf([...messages, user("c")]).flatMap((unit) => unit.messages);
    assert.deepEqual(faultsOf(got), [], name);
    assert.deepEqual(got.filter(({ role }) => role === "assistant").map(callIds), ids, name);
  }
  const [, last] = unitsOf([user("a"), call("0")], { asked: true });
  assert.deepEqual(callIds(last.messages[0]), [], "a new word comes: nothing is at work");
});

test("messages and parts without a word are not shown, nor what no role has", () => {
  const said = { role: "assistant", content: [{ type: "text", text: "yes" }] };
  const messages = [{ role: "user", content: "" }, { role: "user", content: " \n" },
    { role: "user", content: [] }, { role: "user" }, { role: "assistant", content: [] },
    { role: "assistant", content: "" }, { role: "assistant", content: null },
    { role: "assistant", content: [{ type: "text", text: "" }, null] }, {}, { role: 7 }, "odd", 3,
    { role: "assistant", content: [{ type: "text", text: "" }, said.content[0]] },
    { role: "custom", content: "" }, { role: "user", content: [{ type: "image", data: "x" }] }];
  assert.deepEqual(unitsOf(messages).flatMap((unit) => unit.messages),
    [said, ...messages.slice(-2)]);
});

test("the newest word is within the budget, however it is made up", () => {
  const text = (said) => ({ type: "text", text: said });
  const images = Array.from({ length: 8 }, () => ({ type: "image", data: "AAAA" }));
  for (const [name, content] of [
    ["many parts", Array.from({ length: 300 }, (_, n) => text(`part ${n} ${"w ".repeat(100)}`))],
    ["many images", [text("part 0: see"), ...images]], ["only images", images],
    ["only a file", [{ type: "file", data: "word ".repeat(9000) }]],
    ["images and words", [text(`part 0 ${"word ".repeat(9000)}`), ...images]],
    ["pictographs", `part 0 ${"😀".repeat(20_000)}`], ["one run", "a1B2".repeat(30_000)],
    ["a file", [text("part 0"), { type: "file", data: "word ".repeat(9000) }]]]) {
    const messages = [...conversation(4, 3), { role: "user", content }];
    for (const tokenBudget of [60, 300, 2000, 4000, 8000, 16_000]) {
      const got = assembleTail({ messages, tokenBudget });
      const about = `${name}, ${got.tokens} of ${tokenBudget}`;
      assert.equal(got.tokens, cost(got.messages), about);
      assert.ok(got.tokens <= tokenBudget, about);
      assert.ok(isUser(got.messages.at(-1)), about);
      if (JSON.stringify(content).includes("part 0")) {
        assert.match(JSON.stringify(got.messages.at(-1)), /part 0/, about);
      }
    }
  }
  const shown = assembleTail({ tokenBudget: 8000,
    messages: [{ role: "user", content: [text("see"), ...images] }] }).messages[0].content;
  assert.deepEqual(shown.slice(1), images.slice(0, 4), "as many images as fit");
  assert.match(shown[0].text, /^see\n\(4 of 8 attachments/);
});

test("a turn of 3,000 calls is shortened in a fraction of a second", () => {
  const messages = [{ role: "user", content: "go" }];
  for (let n = 0; n < 3000; n += 1) {
    messages.push({ role: "assistant", content: [{ type: "toolCall", id: `x${n}`, name: "run",
      arguments: {} }] }, { role: "toolResult", toolCallId: `x${n}`,
      content: [{ type: "text", text: `out ${n}` }] });
  }
  for (const tokenBudget of [2000, 16_000]) {
    const before = process.cpuUsage();
    const { messages: got } = assembleTail({ messages, tokenBudget });
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 600_000, `${user + system} µs`);
    assert.deepEqual(faultsOf(got), []);
    assert.ok(got[0].content === "go" && got.at(-1).toolCallId === "x2999");
  }
});

/** The requests of a conversation, turn by turn: what the engine hands to the host. */
function requests(messages, assemble) {
  const out = [];
  messages.forEach((message, at) => {
    if (isUser(message)) out.push(assemble(messages.slice(0, at + 1)));
  });
  return out.slice(1);
}

test("500 turns, few tools or many: flat, and 95 % of each request come again in place", (t) => {
  for (const [name, messages] of [["with loops of tools", conversation(7, 500)],
    ["talk only", conversation(8, 500).filter(({ role, content }) => role === "user"
      || (role === "assistant" && content.every(({ type }) => type === "text")))]]) {
    let anchor;
    const sizes = [];
    const lists = requests(messages, (list) => {
      const got = assembleTail({ messages: list, tokenBudget: 1_000_000, anchor });
      anchor = got.anchor;
      sizes.push(got.messages.length);
      return got.messages;
    });
    const turns = lists.map((list) => list.filter(isUser).length);
    assert.ok(Math.max(...turns) <= GROW_TURNS + FRESH_TAIL, `${Math.max(...turns)} turns`);
    assert.ok(Math.min(...sizes.slice(FRESH_TAIL)) >= FRESH_TAIL, `${Math.min(...sizes)}`);
    const shares = prefixShares(lists.map((messages) => commonBytes({ messages })));
    t.diagnostic(told(name, shares));
    assert.ok(shares.median >= 0.95 && shares.overall >= 0.95, told(name, shares));
    assert.ok(shares.whole >= 0.95, told(name, shares));
  }
});

test("a restart finds the same beginning; so does a list that has lost its own", () => {
  const messages = conversation(11, 400);
  let anchor;
  let whole = 0;
  let cuts = 0;
  for (let end = 1; end <= messages.length; end += 1) {
    if (!isUser(messages[end - 1])) continue;
    const list = messages.slice(0, end);
    const before = anchor;
    ({ anchor } = assembleTail({ messages: list, tokenBudget: 1_000_000, anchor }));
    const restarted = assembleTail({ messages: list, tokenBudget: 1_000_000 });
    assert.equal(restarted.anchor, anchor);
    // A host that hands in only the newest 500 messages.
    if (before === anchor && end > 600) {
      const short = assembleTail({ messages: list.slice(-500), tokenBudget: 1_000_000, anchor });
      assert.equal(short.anchor, anchor);
      whole += 1;
    } else if (before !== anchor) {
      cuts += 1;
    }
  }
  assert.ok(whole > 100 && cuts > 5 && cuts < 15, `${whole} ${cuts}`);
});

test("a small budget cuts at its share, far back at once, and keeps the beginning as long", (t) => {
  const messages = conversation(12, 300);
  for (const tokenBudget of [16_000, 64_000]) {
    const lists = requests(messages, (list) => assembleTail({ messages: list, tokenBudget })
      .messages);
    const shares = prefixShares(lists.map((messages) => commonBytes({ messages })));
    t.diagnostic(told(`${tokenBudget} tokens`, shares));
    assert.ok(lists.every((list) => cost(list) <= tokenBudget));
    assert.ok(shares.median >= 0.95, told(`${tokenBudget}`, shares));
  }
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
