// How many tokens a text takes, without a tokenizer: by script, and rather too many than too few
// (test/tokens.test.mjs compares with two real vocabularies).

import { createHash } from "node:crypto";

/** Tokens per letter of a script whose words are split finely. Latin has its own rule. */
const PER_LETTER = [
  [/\p{Script=Han}/u, 1.45],
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, 1.15],
  [/\p{Script=Hangul}/u, 1.5],
  [/\p{Script=Thai}/u, 1.1],
  [/\p{Script=Arabic}/u, 0.85],
  [/\p{Script=Hebrew}/u, 1.15],
  [/\p{Script=Cyrillic}/u, 0.62],
  [/\p{Script=Greek}/u, 1.05],
  [/[\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Telugu}]/u, 1.5],
];
const UNKNOWN_LETTER = 2.2;
const ACCENTED_LATIN = 1.1;
const PICTURE = 3;
const MARGIN = 1.05;
const DIGITS_PER_TOKEN = 2;
const BLANKS_PER_TOKEN = 6;

/** Of each ASCII character: what it makes a run with. */
const LETTER = 1;
const DIGIT = 2;
const BLANK = 3;
const LINE_END = 4;
const SIGN = 5;
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) return LETTER;
  if (/[0-9]/.test(character)) return DIGIT;
  if (/[ \t]/.test(character)) return BLANK;
  if (/[\r\n]/.test(character)) return LINE_END;
  return code > 0x20 && code < 0x7f ? SIGN : 0;
});
const PER_SIGN = 0.9;

/** Keys, digests, base64: long runs of these, with no words in them. */
const BLOB_CHARS_MIN = 24;
const BLOB_LETTERS_PER_TOKEN = 1.4;
const OF_BLOBS = KINDS.map((kind, code) =>
  Number(kind === LETTER || kind === DIGIT || "+/_=-".includes(String.fromCharCode(code))));

/** An image, whatever its size: what the large models charge at most for one that fits. */
export const IMAGE_TOKENS = 1600;
/** Role, separators, ids. */
export const MESSAGE_TOKENS = 8;

const known = new Map(); // code point → tokens, beyond ASCII

function letterTokens(code) {
  let tokens = known.get(code);
  if (tokens === undefined) {
    tokens = weigh(String.fromCodePoint(code));
    if (known.size < 50_000) known.set(code, tokens);
  }
  return tokens;
}

function weigh(letter) {
  if (/\p{Extended_Pictographic}/u.test(letter)) return PICTURE;
  for (const [script, tokens] of PER_LETTER) if (script.test(letter)) return tokens;
  if (/\p{Script=Latin}/u.test(letter)) return ACCENTED_LATIN;
  if (/[\p{P}\p{Z}]/u.test(letter)) return 1.5;
  return UNKNOWN_LETTER;
}

/** @returns {number} whole tokens */
export function estimateTokens(text) {
  let tokens = 0;
  let done = 0;
  for (let at = 0; at < text.length; at += 1) {
    const end = endOf(text, at, OF_BLOBS, 1);
    if (end - at >= BLOB_CHARS_MIN && isBlob(text.slice(at, end))) {
      tokens += runTokens(text, done, at) + (end - at) / BLOB_LETTERS_PER_TOKEN;
      done = end;
    }
    at = end;
  }
  return Math.ceil((tokens + runTokens(text, done, text.length)) * MARGIN);
}

const isBlob = (run) => /[0-9]/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run);

function endOf(text, start, table, kind) {
  let end = start;
  while (end < text.length && table[text.charCodeAt(end)] === kind) end += 1;
  return end;
}

function runTokens(text, from, until) {
  let tokens = 0;
  for (let at = from; at < until;) {
    const code = text.codePointAt(at);
    if (code > 0x7f) {
      tokens += letterTokens(code);
      at += code > 0xffff ? 2 : 1;
      continue;
    }
    const kind = KINDS[code];
    const end = kind === SIGN ? at + 1 : endOf(text, at, KINDS, kind);
    if (kind === LETTER) tokens += latinTokens(text, at, end);
    else if (kind === DIGIT) tokens += Math.ceil((end - at) / DIGITS_PER_TOKEN);
    else if (kind === BLANK) tokens += Math.floor((end - at) / BLANKS_PER_TOKEN);
    else if (kind === LINE_END) tokens += 1;
    else if (kind === SIGN) tokens += PER_SIGN;
    at = end;
  }
  return tokens;
}

/** One up to five letters, two up to ten; longer runs, and those inCamelCase, are split finely. */
function latinTokens(text, start, end) {
  const length = end - start;
  const long = length > 10 ? Math.ceil((length - 10) / 2.5) : 0;
  let humps = 0;
  for (let at = start + 1; at < end; at += 1) {
    if (text.charCodeAt(at - 1) >= 0x61 && text.charCodeAt(at) < 0x61) humps += 1;
  }
  return (length > 5 ? 2 : 1) + Math.max(long, humps);
}

/** Text that is counted anew rather than looked up. */
const CACHED_CHARS_MIN = 200;
/** Digest of a text → tokens: hosts hand in copies, turn by turn. */
const counted = new Map();
const COUNTED_MAX = 100_000;

function textTokens(text) {
  if (text.length < CACHED_CHARS_MIN) return estimateTokens(text);
  const digest = createHash("sha256").update(text).digest("base64");
  let tokens = counted.get(digest);
  if (tokens === undefined) {
    if (counted.size >= COUNTED_MAX) counted.clear();
    tokens = estimateTokens(text);
    counted.set(digest, tokens);
  }
  return tokens;
}

/** A message as the host keeps it: a string or parts as content, tool calls with arguments. */
export function messageTokens(message) {
  if (message === null || typeof message !== "object") return MESSAGE_TOKENS;
  const { content = message.text ?? null, tool_calls: calls } = message;
  return MESSAGE_TOKENS + (content === null ? textTokens(jsonOf(message))
    : contentTokens(content) + (calls ? textTokens(jsonOf(calls)) : 0));
}

/** As a request holds it; nothing makes it throw. */
export function jsonOf(value) {
  try {
    return JSON.stringify(value, (_, inner) =>
      (typeof inner === "bigint" ? String(inner) : inner)) ?? "";
  } catch {
    return String(value);
  }
}

function contentTokens(content) {
  if (typeof content === "string") return textTokens(content);
  if (!Array.isArray(content)) return textTokens(jsonOf(content));
  let tokens = 0;
  for (const part of content) tokens += partTokens(part);
  return tokens;
}

function partTokens(part) {
  if (typeof part === "string") return textTokens(part);
  if (part === null || typeof part !== "object") return 0;
  if (isImage(part)) return IMAGE_TOKENS;
  const text = part.text ?? part.thinking;
  return textTokens(typeof text === "string" ? text : jsonOf(part));
}

export const isImage = (part) => part?.type === "image" || part?.type === "image_url";
