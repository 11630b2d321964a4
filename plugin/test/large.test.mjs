import test from "node:test";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { makeEngine } from "../engine.js";
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
    { [hash(text)]: [null, null] }, { [hash(text)]: [{ start: 1, bytes: -1, text: "" }] },
    { [hash(text)]: [{ start: 0, bytes: 2, text: large("longer") }] }]) {
    assert.deepEqual(await withoutLarge(messages, async () => answer), messages);
  }
});

/** A service that knows one large content, and notes which paths were asked. */
function serviceWith(text, shown) {
  const service = { asked: [], away: false };
  service.ask = async (path, body) => {
    service.asked.push(path);
    if (service.away) return { ok: false, kind: "absent" };
    if (path !== "/v1/files") return { ok: true, value: { open: true, stored: 0, as_of: 1 } };
    assert.deepEqual(body.hashes, [hash(text)]);
    return { ok: true,
      value: { files: { [hash(text)]:
        [{ start: 0, bytes: Buffer.byteLength(text), text: shown }] } } };
  };
  service.insist = service.ask;
  return service;
}

const config = (contextMode) => ({ contextMode, freshTailCount: 32, contextThreshold: 0.75,
  timeoutMs: 300 });
const asking = (text, sessionKey) => ({ sessionId: "s", sessionKey, tokenBudget: 1_000_000,
  messages: [{ role: "user", content: "what does it say?", timestamp: 1 },
    { role: "assistant", timestamp: 2,
      content: [{ type: "toolCall", id: "c1", name: "read", arguments: {} }] },
    { ...result(text), timestamp: 3 },
    { role: "user", content: "and now?", timestamp: 4 }] });

test("the engine in mode world shows what is known of a large result, also a turn later without "
  + "the service", async () => {
  const text = large("row");
  const service = serviceWith(text, "[kept as lf_3]");
  const engine = makeEngine({ link: service, config: config("world") });
  const turn = asking(text, "agent:main:dashboard:large-1");
  const first = await engine.assemble(turn);
  assert.equal(first.messages[2].content[0].text, "[kept as lf_3]");
  assert.ok(first.estimatedTokens < 2000, `${first.estimatedTokens}`);
  service.away = true;
  const second = await engine.assemble(turn);
  assert.deepEqual(second.messages[2], first.messages[2], "the same bytes: the prompt's cache");
});

test("the other mode, an incognito session and a service that never answered show it whole",
  async () => {
    const text = large("row");
    for (const [mode, key] of [["recursive", "agent:main:dashboard:large-2"],
      ["world", "agent:main:dashboard:incognito-3"]]) {
      const service = serviceWith(text, "[kept as lf_4]");
      const engine = makeEngine({ link: service, config: config(mode) });
      const { messages } = await engine.assemble(asking(text, key));
      assert.equal(messages[2].content[0].text, text, mode);
      assert.ok(!service.asked.includes("/v1/files"), mode);
    }
    const away = serviceWith(text, "[kept as lf_5]");
    away.away = true;
    const engine = makeEngine({ link: away, config: config("world") });
    const { messages } = await engine.assemble(asking(text, "agent:main:dashboard:large-4"));
    assert.equal(messages[2].content[0].text, text);
  });
