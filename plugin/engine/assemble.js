// Which messages a model gets, in either mode: the newest ones within the budget, whole turns, tool
// pairs intact, the newest turn always (tail.js says where they begin); and what it is told of the
// rest.
import { cutOf, limitsOf, turnsOf } from "./tail.js";
import { estimateTokens, messageTokens } from "./tokens.js";
import { unitsOf } from "./units.js";

export const FRESH_TAIL = 20;
const EXCERPT_CHARS_MIN = 400;
const NOTE = "(shortened here; the whole text is kept: rc_grep finds it, rc_slice reads it)";

/**
 * @param {{messages: object[], tokenBudget?: number, freshTail?: number, reserve?: number,
 *   keepAll?: boolean, shrink?: number, anchor?: string}} input `reserve`: tokens of what is added
 *   beside; `keepAll`: what is left out could not be found again, so only the budget counts;
 *   `shrink`: the share of the budget that may be used, after the host asked for less; `anchor`:
 *   where the tail began last
 * @returns {{messages: object[], tokens: number, omitted: number, shortened: number,
 *   anchor?: string}}
 */
export function assembleTail({ messages, freshTail = FRESH_TAIL, anchor, ...rest }) {
  const turns = turnsOf(unitsOf(messages));
  const limits = limitsOf({ freshTail, ...rest });
  const start = cutOf(turns, limits, { anchor });
  return { ...tailFrom(turns, start, limits.hard), anchor: turns[start]?.key };
}

/** All from a turn on, shortened where it takes more than `hard` tokens. */
export function tailFrom(turns, start, hard) {
  const tail = turns.slice(start);
  const omitted = sum(turns.slice(0, start).map((turn) => turn.messages));
  const tokens = sum(tail.map((turn) => turn.tokens));
  const units = tail.flatMap((turn) => turn.units);
  if (tokens > hard) return squeezed(units, hard, omitted);
  return { messages: units.flatMap((unit) => unit.messages), tokens, omitted, shortened: 0 };
}

const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);

/** A turn larger than the budget: results of tools first, then all else but the newest. */
function squeezed(units, budget, omitted) {
  let shortened = 0;
  let rest = units;
  const tokensOf = () => sum(rest.flatMap((unit) => unit.messages.map(messageTokens)));
  const map = (wanted, limit) => {
    rest = rest.map((unit) => ({ ...unit, messages: unit.messages.map((message) => {
      if (!wanted(message)) return message;
      const short = shorten(message, limit);
      if (short !== message) shortened += 1;
      return short;
    }) }));
  };
  const isResult = (message) => message.role === "toolResult" || message.role === "tool";
  for (const limit of [8000, 2000, EXCERPT_CHARS_MIN]) {
    if (tokensOf() > budget) map(isResult, limit);
  }
  let gone = 0;
  // The oldest steps of a long loop of tools go before its newest, and before the person's word.
  while (tokensOf() > budget && rest.length > 2) {
    const oldest = rest.findIndex((unit, at) => !unit.user && at < rest.length - 1);
    if (oldest < 0) break;
    gone += rest[oldest].messages.length;
    rest = rest.filter((_, at) => at !== oldest);
  }
  for (const limit of [20_000, 8000, 2000, EXCERPT_CHARS_MIN]) {
    if (tokensOf() > budget) map(() => true, limit);
  }
  while (tokensOf() > budget && rest.length > 1) {
    const at = rest[0].user && rest.length > 1 && !rest.slice(1).some((unit) => unit.user) ? 1 : 0;
    gone += rest[at].messages.length;
    rest = rest.filter((_, index) => index !== at);
  }
  return { messages: rest.flatMap((unit) => unit.messages), tokens: tokensOf(),
    omitted: omitted + gone, shortened };
}

/** Head and tail of each text of a message, at most about so many characters. */
export function shorten(message, chars) {
  if (typeof message.content === "string") {
    const text = excerpt(message.content, chars);
    return text === message.content ? message : { ...message, content: text };
  }
  if (!Array.isArray(message.content)) return message;
  let changed = false;
  const content = message.content.map((part) => {
    if (typeof part?.text !== "string") return part;
    const text = excerpt(part.text, chars);
    if (text === part.text) return part;
    changed = true;
    return { ...part, text };
  });
  return changed ? { ...message, content } : message;
}

function excerpt(text, chars) {
  if (text.length <= chars + NOTE.length + 10) return text;
  const head = Math.floor(chars * 0.7);
  return `${text.slice(0, head).toWellFormed()} … ${NOTE} … `
    + text.slice(text.length - (chars - head)).toWellFormed();
}

/**
 * What the model is told of the rest. The count is rounded down, so that the text, and with it the
 * cached prompt behind it, changes seldom. Empty when nothing is left out.
 * @param {{omitted: number, stored?: number, summarised?: boolean}} input `summarised`: summaries
 *   stand at the beginning of the conversation; `repl`: scripts are recommended before tools
 */
export function manifestOf({ omitted, stored, summarised = false, repl = false }) {
  if (omitted === 0) return "";
  return `Earlier messages of this conversation are not shown here${summarised
    ? " word by word: summaries stand for them at its beginning" : ""}, but none is lost: `
    + `${about(Math.max(stored ?? 0, omitted))} are stored outside this context. Before saying `
    + `that you do not know, look: ${repl ? "rc_repl runs a script over them, " : ""}`
    + `${summarised ? "wc_expand opens a summary, " : ""}rc_grep searches `
    + "them by words or regular expression, rc_slice reads them by number, rc_timeline lists them "
    + "by day, rc_peek shows the newest, rc_query answers a question from them.";
}

/** "more than 800 messages" of 847; two steps in each power of ten. */
export function about(messages) {
  if (messages < 20) return "some messages";
  const power = 10 ** Math.floor(Math.log10(messages));
  const floor = messages >= 5 * power ? 5 * power : messages >= 2 * power ? 2 * power : power;
  return `more than ${floor.toLocaleString("en-US")} messages`;
}

export { estimateTokens };
