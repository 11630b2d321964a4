import assert from "node:assert/strict";
import { test } from "node:test";
import fs from "node:fs";
import { IMAGE_TOKENS, estimateTokens, messageTokens } from "../engine/tokens.js";

const table = JSON.parse(fs.readFileSync(new URL("token-table.json", import.meta.url)));

for (const { name, text, ...counts } of table.samples) {
  test(`no vocabulary makes more tokens of ${name} than estimated`, () => {
    const most = Math.max(...table.vocabularies.map((v) => counts[v]));
    assert.ok(estimateTokens(text) >= most, `${estimateTokens(text)} < ${most}`);
    assert.ok(estimateTokens(text) <= 2.6 * most, `${estimateTokens(text)} > 2.6 × ${most}`);
  });
}

test("over all samples the estimate is within a half of the larger vocabulary's count", () => {
  let estimated = 0;
  let real = 0;
  for (const { text, ...counts } of table.samples) {
    estimated += estimateTokens(text);
    real += Math.max(...table.vocabularies.map((v) => counts[v]));
  }
  assert.ok(estimated <= 1.5 * real, `${estimated} for ${real}`);
});

test("every shape of a message is counted, and none throws", () => {
  const text = "one two three";
  const plain = messageTokens({ role: "user", content: text });
  assert.equal(messageTokens({ role: "user", content: [{ type: "text", text }] }), plain);
  assert.equal(messageTokens({ role: "assistant",
    content: [{ type: "thinking", thinking: text }] }), plain);
  assert.ok(messageTokens({ content: [{ type: "image", data: "AAAA" }] }) >= IMAGE_TOKENS);
  assert.ok(messageTokens({ content: [{ type: "toolCall", id: "c", name: "exec",
    arguments: { command: "ls" } }] }) > 10);
  for (const odd of [null, undefined, {}, { content: null }, { content: 7 },
    { content: [null, 3, "x"] }, { content: {} }]) {
    assert.ok(messageTokens(odd) > 0);
  }
});

test("an empty text has no tokens; lone surrogates count", () => {
  assert.equal(estimateTokens(""), 0);
  assert.ok(estimateTokens("\ud800\udc00\ud800") > 0);
});

test("what looks alike is counted apart: same time, role, id and length", () => {
  const timestamp = 1_790_000_000_000;
  const result = (text) => ({ role: "toolResult", toolCallId: "c", timestamp,
    content: [{ type: "text", text }] });
  assert.ok(messageTokens(result(" ".repeat(3000))) < 600);
  assert.ok(messageTokens(result("漢".repeat(3000))) > 3000);
  const call = (command) => ({ role: "assistant", timestamp,
    content: [{ type: "toolCall", id: "c", name: "exec", arguments: { command } }] });
  assert.ok(messageTokens(call("ls")) < 100);
  assert.ok(messageTokens(call("ls ".repeat(5000))) > 4000);
  const message = call("ls");
  messageTokens(message);
  message.content[0].arguments.command = "ls ".repeat(5000);
  assert.ok(messageTokens(message) > 4000, "the same object, changed since");
  assert.ok(messageTokens({ role: "bashExecution", output: "out ".repeat(2000) }) > 1500);
});

test("5,000 turns handed in as copies are counted in a fraction of a second", () => {
  const all = Array.from({ length: 10_000 }, (_, n) => ({ role: "user", timestamp: n,
    content: `${n} ${"word ".repeat(30)}` }));
  const before = process.cpuUsage();
  for (const message of all) messageTokens(message);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 1_500_000, `${user + system} µs`);
});
