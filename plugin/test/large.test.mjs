import test from "node:test";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { withoutLarge } from "../engine/large.js";

const hash = (text) => createHash("sha256").update(text).digest("hex");
const large = (word) => `${word} é\n`.repeat(3000);
const result = (text) => ({ role: "toolResult", toolCallId: "c1", toolName: "read",
  content: [{ type: "text", text }] });

test("a large result that is known is replaced as a whole, and stays the answer to its call",
  async () => {
    const text = large("row");
    const messages = [{ role: "user", content: "read it" }, result(text)];
    let asked;
    const shown = await withoutLarge(messages, async (hashes) => {
      asked = hashes;
      return { [hash(text)]: [{ start: 0, bytes: Buffer.byteLength(text),
        text: "[kept as lf_1]" }] };
    });
    assert.deepEqual(asked, [hash(text)], "small ones are not asked about");
    assert.equal(shown[0], messages[0]);
    assert.deepEqual(shown[1],
      { ...messages[1], content: [{ type: "text", text: "[kept as lf_1]" }] });
    assert.equal(messages[1].content[0].text, text, "the host's own object is as it was");
  });

test("of a message with an attached file only the file is replaced", async () => {
  const inside = large("é");
  const text = `schön:\n<file name="a">${inside}</file>\nwhat is it?`;
  const start = Buffer.byteLength(text.slice(0, text.indexOf(inside)));
  const [shown] = await withoutLarge([{ role: "user", content: text }], async () => (
    { [hash(text)]: [{ start, bytes: Buffer.byteLength(inside), text: "[kept as lf_2]" }] }));
  assert.equal(shown.content, 'schön:\n<file name="a">[kept as lf_2]</file>\nwhat is it?');
});

test("several text parts are one text, and pictures stay", async () => {
  const parts = [{ type: "text", text: large("a") }, { type: "image", data: "x" },
    { type: "text", text: large("b") }];
  const whole = `${parts[0].text}\n${parts[2].text}`;
  const [shown] = await withoutLarge([{ role: "user", content: parts }], async () => (
    { [hash(whole)]: [{ start: 0, bytes: Buffer.byteLength(whole), text: "[kept]" }] }));
  assert.deepEqual(shown.content, [{ type: "text", text: "[kept]" }, parts[1]]);
});

test("what is not known, or does not fit, stays as it is", async () => {
  const text = large("row");
  const messages = [result(text), null, "odd"];
  for (const answer of [undefined, {}, { [hash(text)]: [] }, { [hash(text)]: "no" },
    { [hash(text)]: [{ start: 5, bytes: 1e9, text: "x" }] },
    { [hash(text)]: [{ start: 0, bytes: 2, text: large("longer") }] }]) {
    assert.deepEqual(await withoutLarge(messages, async () => answer), messages);
  }
});
