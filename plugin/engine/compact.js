// The host asks for less: the tail is cut to the fresh messages, then further, at last the newest
// turn is shortened. In mode `world` what waits is summarised before. The answer says what the next
// request will show; it is found as that request will find it. Nothing is deleted, and the tail
// grows again from where it was cut.
import { cutOf, limitsOf } from "./tail.js";
import { viewOf } from "./view.js";
import { askWithin, requestFor } from "./world.js";

/** Of what is shown, at most so much after a cut that is worth it. */
const WORTH = 0.8;
/** Of what is shown, what a further cut leaves. */
const STEP = 0.6;
/** The newest turn is not shortened below that: of the budget, or tokens where none is known. */
const LEAST_SHARE = 0.2;
const LEAST_TOKENS = 4000;
/** For the service to summarise what waits; a host gives up later than that. */
const WAIT_MS = 20_000;

/**
 * @param {{abortSignal?: AbortSignal}} request of the host
 * @param {import("./state.js").State} state of the conversation
 * @param {{world: boolean, ask: Function, logger?: object}} parts `ask`: POST /v1/compact
 */
export async function compactHistory(request, state, { world, ask, logger }) {
  try {
    const { last } = state;
    if (!last?.turns.length) return unchanged("this gateway has shown nothing of the conversation");
    const summaries = new Summaries(request, state, world ? ask : undefined);
    let best;
    for (const plan of plansOf(last)) {
      const block = await summaries.before(plan.cut);
      const next = foretold(plan, block, state, last);
      if (next.view.tokens < (best ?? last).tokens) best = { ...next, tokens: next.view.tokens };
      if (next.view.tokens <= last.tokens * WORTH) break;
    }
    if (request?.abortSignal?.aborted) return { ok: false, compacted: false, reason: "aborted" };
    if (best === undefined) {
      return unchanged("the tail is as short as it gets; nothing was summarised or deleted"
        + because(summaries.why));
    }
    keep(best, state, last);
    return { ok: true, compacted: true, reason: reasonFor(best, summaries),
      result: { tokensBefore: last.tokens, tokensAfter: best.tokens } };
  } catch (error) {
    logger?.warn?.(`clawmark: compaction failed: ${error.message}`);
    return { ok: false, compacted: false, reason: error.message };
  }
}

const unchanged = (reason) => ({ ok: true, compacted: false, reason });
const because = (why) => (why === undefined ? "" : ` (${why})`);

/** From the one that leaves most to the one that leaves least. */
function* plansOf({ turns, start, tokens, input }) {
  const newest = turns.length - 1;
  let cut = Math.max(start, freshStart(turns, input.freshTail));
  if (cut > start) yield { cut };
  while (cut < newest) {
    const most = tokensFrom(turns, cut) * STEP;
    do cut += 1; while (cut < newest && tokensFrom(turns, cut) > most);
    yield { cut };
  }
  const shown = Math.min(turns[newest].tokens, tokens);
  const least = input.tokenBudget > 0 ? input.tokenBudget * LEAST_SHARE : LEAST_TOKENS;
  const most = Math.floor(Math.max(shown * STEP, least));
  if (most < shown) yield { cut: newest, most: { newest: turns[newest].key, tokens: most } };
}

const tokensFrom = (turns, start) =>
  turns.slice(start).reduce((all, turn) => all + turn.tokens, 0);

function freshStart(turns, freshTail) {
  let start = turns.length;
  let messages = 0;
  while (start > 0 && messages < freshTail) messages += turns[start -= 1].messages;
  return start;
}

/** The next request, were the tail cut there. */
function foretold({ cut, most }, block, state, last) {
  const { turns } = last;
  const input = { ...last.input, most: most?.tokens ?? last.input.most };
  const after = { ...state, notBefore: turns[cut].key, frozen: undefined, note: undefined,
    most: most ?? state.most };
  const start = cutOf(turns, limitsOf(input), after);
  return { view: viewOf(turns, { start, block }, input, after), after, input };
}

function keep({ view, after, input }, state, last) {
  const { notBefore, most, note } = after;
  Object.assign(state, { notBefore, most, note, frozen: undefined, answered: undefined });
  if (state.last !== last) return; // the host has asked for a request meanwhile
  state.last = { ...last, input, start: view.start, tokens: view.tokens };
}

function reasonFor({ view, after, input }, { count, why }) {
  const shorter = input.most < Infinity && after.most !== undefined ? "the newest turn is shortened"
    : "the tail is shorter";
  const done = view.block && count > 0
    ? `${count} summaries stand for what is older than the tail; nothing was deleted`
    : `${shorter}; nothing was summarised or deleted${because(why)}`;
  return view.unheld === 0 ? done
    : `${done}; of what is left out, the memory service does not hold ${view.unheld} messages yet`;
}

/** What the service says of all before a cut; `why`: it says nothing. */
class Summaries {
  constructor(request, state, ask) {
    Object.assign(this, { request, state, ask, count: 0 });
  }

  async before(cut) {
    const { turns, input } = this.state.last;
    if (this.ask === undefined || this.why !== undefined || cut === 0) return "";
    if (turns[cut].from === undefined) return this.no("the messages have no times");
    const wanted = requestFor(turns, cut, input, { frozen: undefined });
    const answer = await askWithin({ ...wanted, wait_ms: WAIT_MS }, input, (body) =>
      this.ask(body, { timeoutMs: WAIT_MS + 5000, signal: this.request?.abortSignal }));
    if (answer?.open === undefined) return this.no("the memory service did not answer");
    if (answer.open !== true) return this.no("who speaks here is not known");
    this.count = Number.isInteger(answer.summaries) ? answer.summaries : 0;
    return typeof answer.block === "string" ? answer.block : "";
  }

  no(why) {
    this.why = why;
    return "";
  }
}
