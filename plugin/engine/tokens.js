// How many tokens a text takes, without a tokenizer: by script, and rather too many than too few
// (test/tokens.test.mjs compares with two real vocabularies).

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

/** Keys, digests, base64: no words in them. */
const BLOBS = /[A-Za-z0-9+/_=-]{24,}/gu;
const BLOB_LETTERS_PER_TOKEN = 1.4;

const RUNS = /[A-Za-z]+|[0-9]+|[ \t]+|[\r\n]+|[\u0021-\u007e]|[^\u0000-\u007f]/gu;

/** An image, whatever its size: what the large models charge at most for one that fits. */
export const IMAGE_TOKENS = 1600;
/** Role, separators, ids. */
export const MESSAGE_TOKENS = 8;

const known = new Map(); // code point → tokens, beyond ASCII

function letterTokens(letter) {
  let tokens = known.get(letter);
  if (tokens === undefined) {
    tokens = weigh(letter);
    if (known.size < 50_000) known.set(letter, tokens);
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
  let blobs = 0;
  const rest = text.replace(BLOBS, (run) => {
    if (!/[0-9]/.test(run) || !/[a-z]/.test(run) || !/[A-Z]/.test(run)) return run;
    blobs += run.length / BLOB_LETTERS_PER_TOKEN;
    return " ";
  });
  return Math.ceil((blobs + runTokens(rest)) * MARGIN);
}

function runTokens(text) {
  let tokens = 0;
  for (const [run] of text.matchAll(RUNS)) {
    const code = run.charCodeAt(0);
    if (code > 0x7f) tokens += letterTokens(run);
    else if (isLetter(code)) tokens += latinTokens(run);
    else if (code >= 0x30 && code <= 0x39) tokens += Math.ceil(run.length / DIGITS_PER_TOKEN);
    else if (code === 0x20 || code === 0x09) tokens += Math.floor(run.length / BLANKS_PER_TOKEN);
    else if (code === 0x0a || code === 0x0d) tokens += 1;
    else tokens += 0.9;
  }
  return tokens;
}

/** One up to five letters, two up to ten; longer runs, and those inCamelCase, are split finely. */
function latinTokens(run) {
  const long = run.length > 10 ? Math.ceil((run.length - 10) / 2.5) : 0;
  const humps = run.match(/[a-z][A-Z]/g)?.length ?? 0;
  return (run.length > 5 ? 2 : 1) + Math.max(long, humps);
}

function isLetter(code) {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

const counted = new WeakMap(); // message → tokens
/** Hosts hand in copies; what a message of this size and time took is known from the last turn. */
const sized = new Map();
const SIZED_MAX = 100_000;

/** A message as the host keeps it: a string or parts as content, tool calls with arguments. */
export function messageTokens(message) {
  if (message === null || typeof message !== "object") return MESSAGE_TOKENS;
  let tokens = counted.get(message);
  if (tokens === undefined) {
    tokens = sizedTokens(message);
    counted.set(message, tokens);
  }
  return tokens;
}

function sizedTokens(message) {
  const size = sizeOf(message);
  const known = size && sized.get(size);
  if (known) return known;
  const tokens = MESSAGE_TOKENS + contentTokens(message.content ?? message.text ?? "");
  if (size) {
    if (sized.size >= SIZED_MAX) sized.clear();
    sized.set(size, tokens);
  }
  return tokens;
}

/** Role, time, and length of each part; undefined where there is no time, or no text alone. */
function sizeOf({ role, timestamp, content }) {
  if (timestamp === undefined || timestamp === null) return undefined;
  if (typeof content === "string") return `${role}|${timestamp}|${content.length}`;
  if (!Array.isArray(content)) return undefined;
  let size = `${role}|${timestamp}`;
  for (const part of content) {
    const text = part?.text ?? part?.thinking;
    size += `|${part?.type}:${typeof text === "string" ? text.length : part?.id}`;
  }
  return size;
}

function contentTokens(content) {
  if (typeof content === "string") return estimateTokens(content);
  if (!Array.isArray(content)) return content ? estimateTokens(JSON.stringify(content)) : 0;
  let tokens = 0;
  for (const part of content) tokens += partTokens(part);
  return tokens;
}

function partTokens(part) {
  if (typeof part === "string") return estimateTokens(part);
  if (part === null || typeof part !== "object") return 0;
  if (part.type === "image" || part.type === "image_url") return IMAGE_TOKENS;
  const text = part.text ?? part.thinking;
  if (typeof text === "string") return estimateTokens(text);
  return estimateTokens(JSON.stringify(part, (_, value) =>
    typeof value === "bigint" ? String(value) : value) ?? "");
}
