// Which messages a model gets, in either mode: the newest ones within the budget, whole turns, tool
// pairs intact, the newest turn always (tail.js says where they begin); and what it is told of the
// rest.
import { fitted, shorten, withoutImages } from "./shorten.js";
import { cutOf, limitsOf, turnsOf } from "./tail.js";
import { estimateTokens, messageTokens } from "./tokens.js";
import { isResult, unitsOf } from "./units.js";

export const FRESH_TAIL = 20;
/** Characters to which results are shortened first, and then all else, step by step. */
const RESULT_CHARS = [8000, 2000, 400];
const MESSAGE_CHARS = [20_000, 8000, 2000, 400];

/**
 * @param {{messages: object[], tokenBudget?: number, freshTail?: number, reserve?: number,
 *   keepAll?: boolean, anchor?: string, asked?: boolean}} input `reserve`: tokens of what is added
 *   beside; `keepAll`: what is left out could not be found again, so only the budget counts;
 *   `anchor`: where the tail began last; `asked`: the newest word is still to come
 * @returns {{messages: object[], tokens: number, omitted: number, shortened: number,
 *   anchor?: string}}
 */
export function assembleTail({ messages, freshTail = FRESH_TAIL, anchor, asked, ...rest }) {
  const turns = turnsOf(unitsOf(messages, { asked }));
  const limits = limitsOf({ freshTail, ...rest });
  const start = cutOf(turns, limits, { anchor });
  return { ...tailFrom(turns, start, limits.hard, asked), anchor: turns[start]?.key };
}

/** All from a turn on, shortened where it takes more than `hard` tokens. */
export function tailFrom(turns, start, hard, asked = false) {
  const tail = turns.slice(start);
  const omitted = sum(turns.slice(0, start).map((turn) => turn.messages));
  const tokens = sum(tail.map((turn) => turn.tokens));
  const units = tail.flatMap((turn) => turn.units);
  if (tokens > hard) {
    const { gone, ...squeezed } = new Squeeze(units, hard).result(asked);
    return { ...squeezed, omitted: omitted + gone };
  }
  return { messages: units.flatMap((unit) => unit.messages), tokens, omitted, shortened: 0 };
}

const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);

/** A turn larger than the budget: each step is taken only as long as it does not fit. */
class Squeeze {
  constructor(units, budget) {
    this.units = units.map(({ user, messages }) =>
      ({ user, messages, tokens: sum(messages.map(messageTokens)) }));
    this.budget = budget;
    this.tokens = sum(this.units.map((unit) => unit.tokens));
    this.shortened = 0;
    this.gone = 0;
  }

  /** `asked`: even the newest word may go, as one still newer is to come. */
  result(asked) {
    const newest = this.units.at(-1);
    const word = this.units.findLast((unit) => unit.user) ?? newest;
    for (const chars of RESULT_CHARS) this.change((one) => shorten(one, chars), isResult);
    // The oldest steps of a long loop of tools go before its newest, and before the person's word.
    this.drop((unit) => !unit.user && unit !== newest);
    for (const chars of MESSAGE_CHARS) this.change((one) => shorten(one, chars));
    this.change(withoutImages, isResult);
    this.drop((unit) => unit !== word);
    if (word?.messages.length === 1) this.change((one) => fitted(one, this.budget));
    this.drop((unit) => asked || !unit.user);
    return { messages: this.units.flatMap((unit) => unit.messages), tokens: this.tokens,
      shortened: this.shortened, gone: this.gone };
  }

  change(shorter, wanted = () => true) {
    if (this.tokens <= this.budget) return;
    for (const unit of this.units) {
      unit.messages = unit.messages.map((message) => {
        const short = wanted(message) ? shorter(message) : message;
        if (short === message) return message;
        const spared = messageTokens(message) - messageTokens(short);
        unit.tokens -= spared;
        this.tokens -= spared;
        this.shortened += 1;
        return short;
      });
    }
  }

  /** The oldest first. */
  drop(may) {
    for (const unit of this.units) {
      if (this.tokens <= this.budget) return;
      if (!may(unit)) continue;
      this.tokens -= unit.tokens;
      this.gone += unit.messages.length;
      Object.assign(unit, { messages: [], tokens: 0 });
    }
  }
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
