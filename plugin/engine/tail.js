// The newest part of a conversation that fits: whole turns, tool calls with their results, from a
// start that stays where it is as long as it can, so that what a provider has cached stays valid.
import { estimateTokens, messageTokens } from "./tokens.js";

/** With more than so many times the wished-for messages, and more turns, the start moves on. */
const STRETCH = 3;
const STRETCH_TURNS = 1.5; // × the wished-for messages
/** How full a fresh start may be, so that it need not move again soon. */
const FRESH_SHARE = 0.6;
const CUT_NOTE = "\n[… shortened; the whole is kept outside the context …]\n";

/**
 * @param {object[]} messages as the host keeps them, oldest first
 * @param {{tokens: number, messages: number, start?: string}} limit `tokens` and `messages` at
 *   most (a fresh start takes no more than `messages`), `start`: where the last tail began
 * @returns {{messages: object[], tokens: number, start?: string, left: number}} `left`: how many
 *   messages of the conversation are not in it
 */
export function freshTail(messages, limit) {
  const all = messages.filter((message) => message !== null && typeof message === "object");
  const sums = suffixTokens(all);
  const turns = turnStarts(all);
  const at = chooseStart({ all, sums, turns, limit });
  const kept =
    at === undefined
      ? shrinkTurn(all.slice(turns.at(-1) ?? 0), limit.tokens)
      : withWholePairs(all.slice(at));
  return {
    messages: kept,
    tokens: kept.reduce((sum, message) => sum + messageTokens(message), 0),
    start: at === undefined ? undefined : nameOf(all[at]),
    left: all.length - kept.length,
  };
}

function chooseStart({ all, sums, turns, limit }) {
  const fits = (at, share) => sums[at] <= limit.tokens * share;
  const before =
    limit.start === undefined ? undefined : turns.find((at) => nameOf(all[at]) === limit.start);
  const isShort = () =>
    all.length - before <= STRETCH * limit.messages ||
    turns.length - turns.indexOf(before) <= STRETCH_TURNS * limit.messages;
  if (before !== undefined && fits(before, 1) && isShort()) return before;
  const fresh = turns.find((at) => all.length - at <= limit.messages && fits(at, FRESH_SHARE));
  return fresh ?? turns.findLast((at) => fits(at, 1));
}

/** Tokens of each message and all behind it. */
function suffixTokens(messages) {
  const sums = new Array(messages.length + 1).fill(0);
  for (let i = messages.length - 1; i >= 0; i -= 1)
    sums[i] = sums[i + 1] + messageTokens(messages[i]);
  return sums;
}

/** Where something begins that needs nothing before it: a user's message. */
function turnStarts(messages) {
  const starts = [];
  for (const [i, message] of messages.entries()) if (message.role === "user") starts.push(i);
  if (starts.length === 0 && messages.length > 0) starts.push(0);
  return starts;
}

/** The same message has the same name in the next turn, wherever it stands then. */
function nameOf(message) {
  const text =
    typeof message.content === "string"
      ? message.content
      : JSON.stringify(message.content ?? null);
  return `${message.id ?? ""}|${message.timestamp ?? ""}|${text.length}|${text.slice(0, 64)}`;
}

// --- Tool calls and their results ----------------------------------------------------------------

const CALLS = new Set(["toolCall", "toolUse", "tool_use", "tool_call", "functionCall"]);

function callIds(message) {
  if (!Array.isArray(message.content)) return [];
  return message.content.filter((part) => CALLS.has(part?.type)).map((part) => part.id);
}

function resultId(message) {
  return message.role === "toolResult" || message.role === "tool"
    ? (message.toolCallId ?? message.tool_call_id ?? message.toolUseId ?? "")
    : undefined;
}

/**
 * Without results whose call is not there, and without calls that have no result although the
 * conversation went on after them: either makes providers refuse the whole request.
 */
export function withWholePairs(messages) {
  const called = new Set(messages.flatMap(callIds));
  const answered = new Set(messages.map(resultId).filter((id) => id !== undefined));
  const last = messages.length - 1;
  const out = [];
  for (const [i, message] of messages.entries()) {
    const id = resultId(message);
    if (id !== undefined && !called.has(id)) continue;
    const open = callIds(message).filter((call) => !answered.has(call));
    if (open.length === 0 || i === last) {
      out.push(message);
      continue;
    }
    const content = message.content.filter(
      (part) => !open.includes(part?.id) || !CALLS.has(part?.type),
    );
    if (content.some((part) => part?.type !== "thinking")) out.push({ ...message, content });
  }
  return out;
}

// --- A turn that is too long by itself -----------------------------------------------------------

/** From the whole of each text to next to nothing of it. */
const TEXT_STEPS = [16_000, 4000, 1000, 200];

/** What the user said, then as much of the newest work as fits; texts are shortened first. */
function shrinkTurn(turn, tokens) {
  for (const chars of TEXT_STEPS) {
    const short = withWholePairs(turn.map((message) => shorten(message, chars)));
    if (total(short) <= tokens) return short;
  }
  const [first, ...rest] = turn.map((message) => shorten(message, TEXT_STEPS.at(-1)));
  if (first === undefined) return [];
  const groups = groupsOf(rest);
  for (let from = 0; from <= groups.length; from += 1) {
    const kept = withWholePairs([first, ...groups.slice(from).flat()]);
    if (total(kept) <= tokens) return kept;
  }
  const room = Math.max(0, tokens - messageTokens({ ...first, content: "" }));
  const bare = { ...first, content: cutToTokens(textOf(first), room) };
  return messageTokens(bare) <= tokens ? [bare] : [];
}

function total(messages) {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** An assistant's message with the results of its calls. */
function groupsOf(messages) {
  const groups = [];
  for (const message of messages) {
    if (resultId(message) !== undefined && groups.length > 0) groups.at(-1).push(message);
    else groups.push([message]);
  }
  return groups;
}

function shorten(message, chars) {
  if (typeof message.content === "string") {
    return message.content.length <= chars
      ? message
      : { ...message, content: cutText(message.content, chars) };
  }
  if (!Array.isArray(message.content)) return message;
  let changed = false;
  const content = message.content.flatMap((part) => {
    if (typeof part?.text === "string" && part.text.length > chars) {
      changed = true;
      return [{ ...part, text: cutText(part.text, chars) }];
    }
    if (part?.type === "thinking" && part.thinking?.length > chars) {
      changed = true;
      return []; // signed: whole or not at all
    }
    return [part];
  });
  return changed ? { ...message, content } : message;
}

/** Beginning and end, which say most. */
function cutText(text, chars) {
  const head = Math.ceil(chars * 0.7);
  return (
    text.slice(0, head).toWellFormed() +
    CUT_NOTE +
    text.slice(text.length - (chars - head)).toWellFormed()
  );
}

function cutToTokens(text, tokens) {
  let chars = Math.min(text.length, tokens * 4);
  while (chars > 0 && estimateTokens(text.slice(0, chars)) > tokens)
    chars = Math.floor(chars * 0.8);
  return text.slice(0, chars).toWellFormed();
}

function textOf(message) {
  if (typeof message.content === "string") return message.content;
  if (!Array.isArray(message.content)) return "";
  return message.content
    .map((part) => (typeof part?.text === "string" ? part.text : ""))
    .join("\n");
}
