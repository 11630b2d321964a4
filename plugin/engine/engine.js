// The context engine: flat contexts. Each turn the model sees the newest messages and a note about
// the rest, which the memory service keeps. An engine lives for one turn of the host; what has to
// outlive it is here, by session, and small enough to be lost with the process.
import { callerFromHook } from "../caller.js";
import { isIncognito } from "../sessions.js";
import { manifestText } from "./manifest.js";
import { freshTail } from "./tail.js";
import { estimateTokens } from "./tokens.js";

export const ENGINE_ID = "clawmark";
/** When the host names no budget. */
const DEFAULT_BUDGET_TOKENS = 100_000;
/** What estimates and the host's own framing may differ by. */
const BUDGET_SHARE = 0.95;
const MANIFEST_MS = 60_000;
/** A smaller history soon has another count. */
const MANIFEST_KEPT_FROM = 100;
const SESSIONS_MAX = 500;
const KEYS_MAX = 2000;
const TAIL_TOKENS_MIN = 50;

/**
 * What outlives a turn: where each session's tail begins, how far compaction has shortened it, what
 * each agent's history counts.
 */
export class EngineMemory {
  constructor({ now = () => performance.now() } = {}) {
    this.now = now;
    this.sessions = new Map();
    this.manifests = new Map();
    this.committed = new Set();
  }

  session(id) {
    const name = String(id ?? "");
    const state = this.sessions.get(name) ?? {
      start: undefined,
      most: Infinity,
      tokens: 0,
      tail: 0,
    };
    this.sessions.delete(name);
    this.sessions.set(name, state);
    if (this.sessions.size > SESSIONS_MAX) this.sessions.delete(this.sessions.keys().next().value);
    return state;
  }

  /** @returns {boolean} whether the key is new */
  commit(key) {
    if (this.committed.has(key)) return false;
    this.committed.add(key);
    if (this.committed.size > KEYS_MAX)
      this.committed.delete(this.committed.values().next().value);
    return true;
  }
}

const shared = new EngineMemory();

/**
 * @param {{link: import("../link.js").Link, config: {tailMessages: number, timeoutMs: number},
 *   logger: object, version: string, memory?: EngineMemory}} parts
 * @returns a factory as `registerContextEngine` wants it
 */
export function makeEngineFactory(parts) {
  return () => new Engine({ memory: shared, ...parts });
}

export class Engine {
  constructor({ link, config, logger, version, memory }) {
    Object.assign(this, { link, config, logger, memory });
    this.info = Object.freeze({
      id: ENGINE_ID,
      name: "Clawmark",
      version,
      ownsCompaction: true,
      transcriptSemantics: Object.freeze({
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      }),
    });
  }

  /** Nothing to import: the service reads the host's own history, from its beginning. */
  async bootstrap() {
    return { bootstrapped: true, importedMessages: 0 };
  }

  /** The transcript is where the service reads; a second copy from here would be a double. */
  async ingest() {
    return { ingested: false };
  }

  async ingestBatch() {
    return { ingestedCount: 0 };
  }

  async afterTurn(params) {
    this.#hint(params);
  }

  /**
   * The turn is in the host's transcript, which the service follows behind cursors; committing it
   * is to say so. Doing that twice does nothing twice.
   */
  async commitTurn(params) {
    const fresh = this.memory.commit(String(params?.advancementKey ?? ""));
    if (fresh) this.#hint(params);
    return { status: fresh ? "committed" : "duplicate" };
  }

  async maintain() {
    return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
  }

  /** Never throws and never waits for the service longer than a turn may. */
  async assemble(params) {
    const state = this.memory.session(params.sessionId);
    const budget = budgetOf(params.tokenBudget);
    let addition = await this.#manifest(params);
    let additionTokens = addition ? estimateTokens(addition) : 0;
    if (additionTokens > budget / 4) {
      addition = "";
      additionTokens = 0;
    }
    const tail = freshTail(params.messages ?? [], {
      tokens: Math.max(0, Math.min(budget - additionTokens, state.most)),
      messages: this.config.tailMessages,
      start: state.start,
    });
    state.start = tail.start;
    state.tail = tail.tokens;
    state.tokens = tail.tokens + additionTokens;
    return {
      messages: tail.messages,
      estimatedTokens: state.tokens,
      ...(addition ? { systemPromptAddition: addition } : {}),
    };
  }

  /**
   * The host found the context too long although it was within the budget, or a person asked. The
   * next one is half as long; nothing is summarised and nothing lost.
   */
  async compact(params) {
    const state = this.memory.session(params.sessionId);
    const before = params.currentTokenCount ?? state.tokens;
    if (!params.force && params.tokenBudget > 0 && before <= params.tokenBudget) {
      return { ok: true, compacted: false, reason: "the context is within its budget" };
    }
    const most = Math.floor(state.tail / 2);
    if (most < TAIL_TOKENS_MIN) {
      return { ok: false, compacted: false, reason: "the context is as short as it can be" };
    }
    state.most = most;
    state.tail = most;
    state.start = undefined;
    return {
      ok: true,
      compacted: true,
      reason: "fewer of the newest messages are shown from now on; all are kept",
      result: { tokensBefore: before, tokensAfter: state.tokens - most },
    };
  }

  async onSubagentEnded() {}

  async dispose() {}

  async #manifest({ sessionId, sessionKey, availableTools }) {
    if (isIncognito(sessionKey)) return "";
    const caller = callerFromHook({ agentId: agentOf(sessionKey), sessionKey, sessionId });
    const name = caller.session_key ?? "";
    const known = this.memory.manifests.get(name);
    if (known && this.memory.now() - known.at < MANIFEST_MS) {
      return manifestText(known.counts, availableTools);
    }
    const answer = await this.link.ask(
      "/v1/manifest",
      { caller },
      { timeoutMs: this.config.timeoutMs },
    );
    if (!answer.ok) return manifestText(known?.counts, availableTools);
    if (!(answer.value.messages >= MANIFEST_KEPT_FROM)) {
      return manifestText(answer.value, availableTools);
    }
    if (this.memory.manifests.size > SESSIONS_MAX) this.memory.manifests.clear();
    this.memory.manifests.set(name, { at: this.memory.now(), counts: answer.value });
    return manifestText(answer.value, availableTools);
  }

  #hint({ sessionId, sessionKey }) {
    if (isIncognito(sessionKey)) return;
    const caller = callerFromHook({ agentId: agentOf(sessionKey), sessionKey, sessionId });
    void this.link.hint("/v1/notify", { caller, kind: "transcript" }, { timeoutMs: 1000 });
  }
}

function budgetOf(tokenBudget) {
  const given =
    Number.isFinite(tokenBudget) && tokenBudget > 0 ? tokenBudget : DEFAULT_BUDGET_TOKENS;
  return Math.floor(given * BUDGET_SHARE);
}

function agentOf(sessionKey) {
  const [kind, agent] = typeof sessionKey === "string" ? sessionKey.split(":") : [];
  return kind === "agent" ? agent : undefined;
}
