// Which sessions get memory: people's do; sub-agents, scheduled jobs, heartbeats and web hooks do
// not unless the operator names them; incognito sessions never do, and nothing of theirs leaves the
// gateway.

const SUBAGENTS = ["subagent", "sub-agent", "active-memory"];
const HOOKS = ["hook", "webhook"];

/**
 * @typedef {"person" | "subagent" | "cron" | "heartbeat" | "hook" | "internal"
 *   | "incognito"} SessionClass
 * @param {{sessionKey?: string, trigger?: string, inputProvenance?: {kind?: string}}} context
 * @returns {SessionClass}
 */
export function sessionClass(context) {
  const parts = segments(context?.sessionKey);
  if (parts.some((part) => part.startsWith("incognito-"))) return "incognito";
  if (SUBAGENTS.some((mark) => parts.includes(mark))) return "subagent";
  if (parts.includes("cron") || context?.trigger === "cron") return "cron";
  if (parts.includes("heartbeat") || context?.trigger === "heartbeat") return "heartbeat";
  if (HOOKS.includes(parts[0]) || context?.trigger === "hook") return "hook";
  if (parts.includes("internal-session-effects")) return "internal";
  if (context?.trigger === "memory") return "internal";
  switch (context?.inputProvenance?.kind) {
    case "inter_session": return "subagent";
    case "internal_system": return "internal";
    default: return "person";
  }
}

export function isIncognito(sessionKey) {
  return sessionClass({ sessionKey }) === "incognito";
}

/**
 * @param {{allowSessions: string[], denySessions: string[]}} config
 * @returns {boolean} whether the prompt of this turn may be sent to the daemon and get memory
 */
export function mayInject(context, config) {
  const kind = sessionClass(context);
  if (kind === "incognito") return false;
  const key = typeof context?.sessionKey === "string" ? context.sessionKey : "";
  if (config.denySessions.some((glob) => globMatches(glob, key))) return false;
  return kind === "person" || config.allowSessions.some((glob) => globMatches(glob, key));
}

/** `*` is any run of characters, `?` any one, the rest literal. Case-blind, never exponential. */
export function globMatches(glob, text) {
  const pattern = glob.toLowerCase();
  const subject = text.toLowerCase();
  let p = 0;
  let s = 0;
  let star = -1;
  let resume = 0;
  while (s < subject.length) {
    if (p < pattern.length && pattern[p] === "*") {
      star = p;
      resume = s;
      p += 1;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === subject[s])) {
      p += 1;
      s += 1;
    } else if (star >= 0) {
      resume += 1;
      p = star + 1;
      s = resume;
    } else {
      return false;
    }
  }
  while (p < pattern.length && pattern[p] === "*") p += 1;
  return p === pattern.length;
}

/** Parts of a session key after `agent:<id>:`; that id may be any word, so it is not looked at. */
function segments(sessionKey) {
  if (typeof sessionKey !== "string") return [];
  const parts = sessionKey.trim().toLowerCase().split(":");
  return parts[0] === "agent" ? parts.slice(2) : parts;
}
