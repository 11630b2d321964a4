// Clawmark's hits inside the host's own memory_search (corpus "all"). Additive: the host's memory
// slot stays with whoever has it.
import { callerFromSearch } from "./caller.js";
import { isIncognito } from "./sessions.js";

const CORPUS = "clawmark";
const FACT_PREFIX = "clawmark/facts/";
const MESSAGE_PREFIX = "clawmark/messages/";
const LIMIT_DEFAULT = 6;
const LIMIT_MAX = 50;
/** The host waits for all corpora together: ours must not be the slow one. */
const TIMEOUT_MS_MAX = 3000;

export function makeCorpusSupplement({ link, config }) {
  const find = async (caller, query, limit) => {
    const answer = await link.ask("/v1/tools/clawmark_search", { caller, params: { query, limit } },
      { timeoutMs: Math.min(TIMEOUT_MS_MAX, config.toolTimeoutMs) });
    return answer.ok && answer.value.ok !== false ? answer.value.details ?? {} : {};
  };
  return {
    async search(params) {
      const query = String(params?.query ?? "").trim();
      if (!query || isIncognito(params?.agentSessionKey)) return [];
      const limit = Math.min(LIMIT_MAX, Math.max(1, params.maxResults || LIMIT_DEFAULT));
      const { facts, recalled } = await find(callerFromSearch(params), query, limit);
      return [...asList(facts).map(factHit), ...asList(recalled).map(messageHit)].slice(0, limit);
    },
    /** Facts can be read again by key. An excerpt is all that there is to show of a message. */
    async get(params) {
      const lookup = String(params?.lookup ?? "");
      if (!lookup.startsWith(FACT_PREFIX) || isIncognito(params?.agentSessionKey)) return null;
      const key = lookup.slice(FACT_PREFIX.length);
      const { facts } = await find(callerFromSearch(params), key, LIMIT_MAX);
      const fact = asList(facts).find((one) => one?.key === key);
      if (!fact) return null;
      const content = `${fact.key}: ${fact.value}`;
      return { corpus: CORPUS, path: lookup, title: key, kind: "fact", content, fromLine: 1,
        lineCount: content.split("\n").length };
    },
  };
}

function factHit(fact) {
  return {
    corpus: CORPUS, kind: "fact", path: FACT_PREFIX + fact.key, title: String(fact.key),
    score: unit(fact.confidence), snippet: `${fact.key}: ${fact.value}`,
    provenanceLabel: fact.source === "user" ? "stated by the user" : "concluded by memory",
    ...(fact.date ? { updatedAt: String(fact.date) } : {}),
  };
}

function messageHit(hit) {
  return {
    corpus: CORPUS, kind: "message", path: MESSAGE_PREFIX + hit.id, id: String(hit.id),
    title: [hit.date, hit.speaker ?? hit.role].filter(Boolean).join(" "),
    score: unit(hit.score), snippet: String(hit.excerpt ?? ""),
    provenanceLabel: "earlier conversation",
    ...(hit.date ? { updatedAt: String(hit.date) } : {}),
  };
}

const asList = (value) => (Array.isArray(value) ? value.filter(Boolean) : []);
const unit = (value) => Math.min(1, Math.max(0, Number(value) || 0));
