// The context engine `clawmark`: a fresh tail, and for the rest a note and tools (mode
// `recursive`) or summaries and where things were left off (mode `world`).
// The host chooses it with plugins.slots.contextEngine. It makes an engine for each turn and
// quarantines one that throws, so nothing here throws, and what must last longer than a turn is
// kept beside the engines or by the service, which reads the transcript itself.
import { manifestOf, estimateTokens, tailFrom } from "./engine/assemble.js";
import { callerFromUpdate } from "./caller.js";
import { compactHistory } from "./engine/compact.js";
import { cutOf, heldUpTo, limitsOf, turnsOf } from "./engine/tail.js";
import { withoutLarge } from "./engine/large.js";
import { messageTokens } from "./engine/tokens.js";
import { unitsOf } from "./engine/units.js";
import { blockTokens, worldContext } from "./engine/world.js";
import { knownSender } from "./senders.js";
import { sessionHint } from "./service.js";
import { isIncognito } from "./sessions.js";
import { VERSION } from "./version.js";

export const ENGINE_ID = "clawmark";
const SESSIONS_MAX = 1000;
const KEYS_MAX = 5000;
/** The note about what is left out, at its longest. */
const NOTE_TOKENS = estimateTokens(manifestOf({ omitted: 1, stored: 1e6, summarised: true }));
const SUMMARISE_MS = 1000;

/**
 * Per conversation.
 * @typedef {{stored?: number, held?: number, shrink: number, tokens: number, anchor?: string,
 *   notBefore?: string, frozen?: object, note?: {start: string, text: string}, asked?: string,
 *   turns: object[], block: string, answered?: object}} State `stored`: messages of the
 *   conversation that tools find; `held`: those of the session that the service has read;
 *   `shrink`: the share of the budget that may be used; `tokens`, `turns`, `block`: of the last
 *   request; `answered`: that, as the host got it
 */
const sessions = new Map();
/** Turns that were committed: the host asks again after a crash. */
const committed = new Set();

function sessionState(turn) {
  const name = turn?.sessionKey ?? turn?.sessionId ?? "";
  let state = sessions.get(name);
  if (state === undefined) {
    if (sessions.size >= SESSIONS_MAX) sessions.delete(sessions.keys().next().value);
    state = { shrink: 1, tokens: 0, turns: [], block: "" };
    sessions.set(name, state);
  }
  return state;
}

export function registerEngine(api, parts) {
  api.registerContextEngine?.(ENGINE_ID, () => makeEngine({ ...parts, logger: api.logger }));
}

/** @param {{link: import("./link.js").Link, config: object, logger: object}} parts */
export function makeEngine(parts) {
  return {
    info: {
      id: ENGINE_ID,
      name: "Clawmark: history outside the context",
      version: VERSION,
      ownsCompaction: true,
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    bootstrap: async () => ({ bootstrapped: true, importedMessages: 0,
      reason: "the memory service reads the transcript itself" }),
    ingest: async () => ({ ingested: true }),
    ingestBatch: async (batch) => ({ ingestedCount: batch?.messages?.length ?? 0 }),
    assemble: (turn) => assemble(turn, parts),
    compact: (request) => compactHistory(request, sessionState(request),
      { logger: parts.logger, world: isWorld(parts.config), freshTail: freshTailOf(parts),
        ask: (body, options) => insist("/v1/compact", request, body, parts, options) }),
    commitTurn: async (turn) => {
      const known = committed.has(turn?.advancementKey);
      if (!known && turn?.advancementKey !== undefined) {
        if (committed.size >= KEYS_MAX) committed.delete(committed.values().next().value);
        committed.add(turn.advancementKey);
      }
      hint(turn);
      return { status: known ? "duplicate" : "committed" };
    },
    afterTurn: async (turn) => hint(turn),
    maintain: async () => ({ changed: false, bytesFreed: 0, rewrittenEntries: 0 }),
    dispose: async () => {},
  };
}

/** The plugin's own setting, else what the service was told (RC_FRESH_TAIL), else the default. */
function freshTailOf({ link, config }) {
  const told = isWorld(config) ? link.context?.world_fresh_tail : link.context?.fresh_tail;
  return !config.freshTailIsSet && Number.isInteger(told) && told > 0 ? told
    : config.freshTailCount;
}

const isWorld = (config) => config.contextMode === "world";

function hint(turn) {
  try {
    sessionHint("transcript", turn ?? {});
  } catch { /* a hint: the service looks by itself, too */ }
}

/** In mode world: what the service knows of large contents in their place. */
async function withoutLargeOf(messages, turn, state, { link, config }) {
  if (!isWorld(config) || isIncognito(turn.sessionKey)) return messages;
  return withoutLarge(messages, async (hashes) => {
    const answer = await link.ask("/v1/files", { caller: callerOf(turn), hashes },
      { timeoutMs: config.timeoutMs });
    if (answer.ok) state.large = answer.value.files;
    return state.large; // late once: what was known a turn ago holds
  });
}

async function assemble(turn, parts) {
  let messages = Array.isArray(turn?.messages) ? turn.messages : [];
  try {
    const state = sessionState(turn);
    if (isAnswered(turn, messages, state.answered)) return state.answered.answer;
    messages = await withoutLargeOf(messages, turn, state, parts);
    const turns = turnsOf(unitsOf(messages));
    const answer = await contextOf({ turn, turns, state, reserve: reserveFor(turn, messages) },
      parts);
    state.answered = { answer, prompt: turn.prompt, tokenBudget: turn.tokenBudget };
    return answer;
  } catch (error) {
    parts.logger?.warn?.(`clawmark: the whole conversation is shown: ${error.message}`);
    return { messages, estimatedTokens: messages.reduce((all, m) => all + messageTokens(m), 0) };
  }
}

/**
 * Hosts hand in what they were just answered, for the same word: its note stands in the system
 * prompt already, so that nothing may be cut again.
 */
function isAnswered(turn, messages, answered) {
  const before = answered?.answer.messages;
  return before !== undefined && messages.length > 0 && messages.length === before.length
    && turn.prompt !== undefined && turn.prompt === answered.prompt
    && turn.tokenBudget === answered.tokenBudget
    && [0, -1].every((at) => JSON.stringify(messages.at(at)) === JSON.stringify(before.at(at)));
}

/** The host's answer: what is shown, and what is said of the rest. */
async function contextOf({ turn, turns, state, reserve }, parts) {
  const { config } = parts;
  const world = isWorld(config);
  const input = { tokenBudget: turn.tokenBudget, freshTail: freshTailOf(parts),
    shrink: state.shrink, reserve: reserve + NOTE_TOKENS };
  if (world) {
    input.threshold = config.contextThreshold ?? parts.link.context?.world_threshold ?? 0.75;
  }
  const ask = (body) => askContext(turn, body, state, parts);
  let { start, block, waiting } = world ? await worldContext(turns, input, state, ask)
    : await recursiveContext(turns, input, state, ask);
  const limits = limitsOf(input);
  const omitted = turns.slice(0, start).reduce((all, one) => all + one.messages, 0);
  // What the service does not hold yet, or would not give back, has to be shown. It reads a
  // conversation from its beginning; a tail more, as it also counts what was taken back.
  const held = state.held ?? 0;
  if (omitted > held) {
    start = Math.max(heldUpTo(turns, held - input.freshTail),
      cutOf(turns, limitsOf({ ...input, keepAll: true })));
    state.frozen = undefined;
    block = "";
  }
  let tail = tailFrom(turns, start, limits.hard - blockTokens(block));
  if (block && tail.shortened > 0) { // what was said last goes before what was said long ago
    block = "";
    tail = tailFrom(turns, start, limits.hard);
  }
  const note = tail.tokens + blockTokens(block) > limits.hard ? ""
    : noteOf(state, turns[start]?.key, tail.omitted,
      { summarised: block !== "", repl: parts.link.context?.mode === "repl" });
  state.turns = turns.map(({ key, tokens, messages, from, until }) =>
    ({ key, tokens, messages, from, until }));
  state.block = block;
  state.tokens = tail.tokens + blockTokens(block) + estimateTokens(note);
  if (waiting) askToSummarise(turn, state, parts);
  return { messages: block ? [blockMessage(block, turns[start]), ...tail.messages] : tail.messages,
    estimatedTokens: state.tokens, ...(note ? { systemPromptAddition: note } : {}) };
}

async function recursiveContext(turns, input, state, ask) {
  await ask({ mode: "recursive" });
  const start = cutOf(turns, limitsOf(input), state);
  state.anchor = turns[start]?.key;
  return { start, block: "" };
}

/** Until the tail is cut again it says the same, whatever has been added since. */
function noteOf(state, start, omitted, kind) {
  if (omitted === 0 || state.stored === undefined) return "";
  const name = JSON.stringify([start, kind]);
  if (state.note?.start !== name) {
    state.note = { start: name, text: manifestOf({ omitted, stored: state.stored, ...kind }) };
  }
  return state.note.text;
}

function blockMessage(block, turn) {
  return { role: "user", content: block, ...(turn?.from && { timestamp: turn.from }) };
}

/** The newest word is not in the messages yet: the host adds it after us. */
function reserveFor(turn, messages) {
  const prompt = typeof turn.prompt === "string" ? turn.prompt : "";
  const last = messages.at(-1);
  const there = last?.role === "user" && (JSON.stringify(last.content) ?? "").includes(
    JSON.stringify(prompt.slice(0, 200)).slice(1, -1));
  return prompt && !there ? estimateTokens(prompt) : 0;
}

function callerOf(turn) {
  const caller = { ...callerFromUpdate(turn), trigger: "tool" };
  const sender = knownSender(turn?.sessionKey);
  if (sender !== undefined) caller.sender_id = sender;
  return caller;
}

/** Of this conversation, as far as its caller may see it; undefined: nothing can be had. */
async function askContext(turn, body, state, { link, config }) {
  if (isIncognito(turn.sessionKey)) {
    state.stored = state.held = undefined;
    return undefined;
  }
  const answer = await link.ask("/v1/assemble", { caller: callerOf(turn), ...body },
    { timeoutMs: config.timeoutMs });
  if (!answer.ok) return undefined; // late once: what was known a turn ago holds
  const { open, stored, held } = answer.value;
  const known = open === true && Number.isInteger(stored) && stored > 0;
  state.stored = known ? stored : undefined;
  state.held = known ? held ?? stored : undefined;
  return answer.value;
}

/** Once per cut: the service need not wait until a chunk is full. */
function askToSummarise(turn, state, { link }) {
  if (state.asked === state.anchor) return;
  state.asked = state.anchor;
  const body = { caller: callerOf(turn), wait_ms: 0 };
  void link.hint("/v1/compact", body, { timeoutMs: SUMMARISE_MS });
}

async function insist(path, turn, body, { link }, options) {
  if (isIncognito(turn?.sessionKey)) return undefined;
  const answer = await link.insist(path, { caller: callerOf(turn), ...body }, options);
  return answer.ok ? answer.value : undefined;
}
