// From a hook event to what the person said in it: the query of recall. Hosts differ in what they
// wrap around the text, so wrappers are peeled off from both ends until nothing more comes off.

export const QUERY_CHARS_MAX = 8000;
/** Of a longer text only the two ends are looked at: wrappers and questions stand there. */
const RAW_CHARS_MAX = 200_000;
const HEAD_SHARE = 0.6;
/** A text with more wrappers than this is not a host's doing. */
const PEELS_MAX = 32;

/**
 * The newest user message. `currentUserMessage`, where the host gives it, is the truth, even when
 * it is empty (an image without words); then `prompt`; then the newest user message of the history.
 * @param {{currentUserMessage?: unknown, prompt?: unknown, messages?: unknown}} event
 * @returns {string} cleaned, at most QUERY_CHARS_MAX characters; empty when there is no text
 */
export function queryOf(event) {
  return ends(clean(rawText(event)), QUERY_CHARS_MAX);
}

/** How many messages the request holds already, and the time of the oldest. */
export function windowOf(event) {
  const messages = Array.isArray(event?.messages) ? event.messages : [];
  let oldest = Infinity;
  for (const message of messages) {
    if (!["user", "assistant", "toolResult"].includes(message?.role)) continue;
    const at = typeof message.timestamp === "string"
      ? Date.parse(message.timestamp) : message.timestamp;
    if (Number.isFinite(at) && at > 0 && at < oldest) oldest = at;
  }
  const window = { count: messages.length };
  if (Number.isFinite(oldest)) window.oldest_ms = Math.trunc(oldest);
  return window;
}

function rawText(event) {
  if (typeof event?.currentUserMessage === "string") return event.currentUserMessage;
  if (event?.prompt !== undefined && event?.prompt !== null) return textOf(event.prompt);
  const messages = Array.isArray(event?.messages) ? event.messages : [];
  const newest = messages.findLast((message) => message?.role === "user");
  return textOf(newest?.content);
}

/** Text of a message content: a string, or the text parts of a list of blocks. */
function textOf(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return typeof content?.text === "string" ? content.text : "";
  return content
    .map((part) => (typeof part === "string" ? part : part?.text))
    .filter((text) => typeof text === "string")
    .join("\n");
}

export function clean(text) {
  let rest = withoutInternalContext(ends(text, RAW_CHARS_MAX)).trim();
  for (let peels = 0; peels < PEELS_MAX; peels += 1) {
    const next = peel(rest).trim();
    if (next === rest) break;
    rest = next;
  }
  return rest;
}

function peel(text) {
  for (const strip of [leadingBlock, trailingBlock, leadingStamp, leadingMetadata, leadingNotes,
    trailingNotes]) {
    const next = strip(text);
    if (next !== text) return next;
  }
  return text;
}

// ---- memory blocks, ours and others' -----------------------------------------------------------

/** Tags that memory plugins wrap their text in: `<memory-data>`, `<relevant_memories>`, ours … */
const TAG = "(?:clawmark[\\w.-]*|[\\w.-]*memor(?:y|ies)[\\w.-]*|recalled[\\w.-]*)";
const OPENING_TAG = new RegExp(`^<(${TAG})(?:\\s[^<>]{0,200})?>`, "i");
const CLOSING_TAG = new RegExp(`</(${TAG})>$`, "i");

/** Our own guard: marks count where they begin a line, and inside the block none can. */
const OWN_BLOCK = /^\[Memory from Clawmark[^]*?\n\[End of memory [0-9a-f]{16}\](?=\s|$)/;
const OWN_CLOSING = /(?:^|\n)\[End of memory [0-9a-f]{16}\]$/;
const OWN_OPENING = "\n[Memory from Clawmark";

function leadingBlock(text) {
  const tag = OPENING_TAG.exec(text);
  if (tag) return afterFirst(text, `</${tag[1]}>`);
  const own = OWN_BLOCK.exec(text);
  if (own) return text.slice(own[0].length);
  if (/^\[Memory\b/.test(text)) return afterFirst(text, "[End Memory]");
  return text;
}

function trailingBlock(text) {
  const tag = CLOSING_TAG.exec(text);
  if (tag) {
    const start = text.toLowerCase().lastIndexOf(`<${tag[1].toLowerCase()}`);
    return start >= 0 ? text.slice(0, start) : text;
  }
  if (OWN_CLOSING.test(text)) {
    const start = text.lastIndexOf(OWN_OPENING);
    return start >= 0 ? text.slice(0, start) : text;
  }
  if (!text.endsWith("[End Memory]")) return text;
  const start = text.lastIndexOf("[Memory");
  return start >= 0 ? text.slice(0, start) : text;
}

function afterFirst(text, closing) {
  const at = text.toLowerCase().indexOf(closing.toLowerCase());
  return at < 0 ? text : text.slice(at + closing.length);
}

function withoutInternalContext(text) {
  const opening = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";
  const closing = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";
  let kept = "";
  let from = 0;
  for (;;) {
    const start = text.indexOf(opening, from);
    const end = start < 0 ? -1 : text.indexOf(closing, start);
    if (end < 0) return kept + text.slice(from);
    kept += text.slice(from, start);
    from = end + closing.length;
  }
}

// ---- channel envelopes -------------------------------------------------------------------------

/** `[Tue 2026-08-04 09:12 CEST]`, `[Telegram Ada id:101 +2m 2026-08-04T09:12Z]` */
const STAMP = /^\[[^\]\n]{0,160}\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}[^\]\n]{0,40}\]:?/;

function leadingStamp(text) {
  return text.replace(STAMP, "");
}

/** `Conversation info (untrusted metadata):`, `[Replied message (untrusted, for context):` … */
const METADATA_LABEL =
  /^\[?[A-Z][\w '/-]{2,60}(?: \(untrusted[^)\n]{0,60}\):|:?[ \t]*⟦openclaw:ctx⟧:?)\s*/;

function leadingMetadata(text) {
  const label = METADATA_LABEL.exec(text);
  if (!label) return text;
  const rest = text.slice(label[0].length);
  const after = afterFence(rest) ?? afterJson(rest);
  if (after === undefined) return text;
  return label[0].startsWith("[") ? after.replace(/^\s*\]/, "") : after;
}

/** Newlines inside JSON strings are escaped, so a fence on a line of its own ends the JSON. */
function afterFence(text) {
  if (!text.startsWith("```")) return undefined;
  const end = text.indexOf("\n```", 3);
  return end < 0 ? undefined : text.slice(end + 4);
}

/** What follows a balanced `{…}` or `[…]`; brackets inside quoted strings do not count. */
function afterJson(text) {
  if (text[0] !== "{" && text[0] !== "[") return undefined;
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const c = text[i];
    if (quoted) {
      if (c === "\\") i += 1;
      else if (c === '"') quoted = false;
    } else if (c === '"') {
      quoted = true;
    } else if (c === "{" || c === "[") {
      depth += 1;
    } else if (c === "}" || c === "]") {
      depth -= 1;
      if (depth === 0) return text.slice(i + 1);
    }
  }
  return undefined;
}

/** Lines that hosts put before the text: system events and attachment notes. */
const LEADING_NOTE = /^(?:System: \[[^\n]*|\[media attached[^\]\n]*\][^\n]*)(?:\n|$)/;
/** Lines that hosts put after the text. */
const TRAILING_NOTE = /(?:^|\n)[ \t]*(?:\[message_id: [^\]\n]*\]|Runtime: agent=[^\n]*)$/;

function leadingNotes(text) {
  return text.replace(LEADING_NOTE, "");
}

function trailingNotes(text) {
  return text.replace(TRAILING_NOTE, "");
}

// ---- length ------------------------------------------------------------------------------------

/** A long paste keeps its beginning and its end: the question stands at one of them. */
function ends(text, charsMax) {
  if (text.length <= charsMax) return text;
  const joint = "\n…\n";
  const head = Math.floor(charsMax * HEAD_SHARE);
  const tail = charsMax - head - joint.length;
  return (text.slice(0, head) + joint + text.slice(-tail)).toWellFormed();
}
