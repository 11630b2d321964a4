// Large contents of messages: in their place stands what the service saw of them, with the id under
// which it reads them back.
// What the service does not know stays as it is.
import { createHash } from "node:crypto";
import { messageTokens } from "./tokens.js";

/** Below so many characters no content is large, whatever the threshold. */
const CHARS_MIN = 4000;
const HASHES_MAX = 200;
/** Message → hash of its text: the host hands the same objects in again. */
const hashes = new WeakMap();

/** The texts of a message as the service reads them: parts, joined by line ends. */
function textOf(message) {
  if (typeof message?.content === "string") return message.content;
  if (!Array.isArray(message?.content)) return "";
  return message.content.filter((part) => part?.type === "text" && typeof part.text === "string")
    .map((part) => part.text).join("\n");
}

function hashOf(message) {
  let hash = hashes.get(message);
  if (hash === undefined) {
    const text = textOf(message);
    hash = text.length < CHARS_MIN ? "" : createHash("sha256").update(text).digest("hex");
    hashes.set(message, hash);
  }
  return hash;
}

/**
 * @param {object[]} messages as the host gives them
 * @param {(hashes: string[]) => Promise<object>} ask hash of a text → parts {start, bytes, text}
 *   in bytes, as POST /v1/files answers
 * @returns {Promise<object[]>} new objects where something was replaced, the same ones elsewhere
 */
export async function withoutLarge(messages, ask) {
  const asked = new Set();
  for (const message of messages) {
    const hash = message !== null && typeof message === "object" ? hashOf(message) : "";
    if (hash !== "") asked.add(hash);
  }
  if (asked.size === 0) return messages;
  const known = await ask([...asked].slice(-HASHES_MAX));
  return messages.map((message) => {
    const parts = known?.[hashes.get(message)];
    return Array.isArray(parts) && parts.length > 0 ? replaced(message, parts) : message;
  });
}

function replaced(message, parts) {
  if (!parts.every(isPart)) return message;
  const bytes = Buffer.from(textOf(message), "utf8");
  let text = "";
  let at = 0;
  for (const part of parts.toSorted((a, b) => a.start - b.start)) {
    if (!fits(part, at, bytes.length)) return message;
    text += bytes.toString("utf8", at, part.start) + part.text;
    at = part.start + part.bytes;
  }
  text += bytes.toString("utf8", at);
  if (typeof message.content === "string") return smaller(message, { ...message, content: text });
  const isText = (part) => part?.type === "text" && typeof part.text === "string";
  const first = message.content.findIndex(isText);
  const content = message.content.flatMap((part, index) =>
    (index === first ? [{ ...part, text }] : isText(part) ? [] : [part]));
  return smaller(message, { ...message, content });
}

const isPart = (part) => Number.isInteger(part?.start) && Number.isInteger(part.bytes)
  && typeof part.text === "string";

const fits = (part, at, length) =>
  part.start >= at && part.bytes >= 0 && part.start + part.bytes <= length;

const smaller = (message, other) =>
  (messageTokens(other) < messageTokens(message) ? other : message);
