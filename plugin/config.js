// The plugin's settings: one table, from which the defaults, the checks and the manifest's
// `configSchema` are made (a test compares the manifest with `configSchema()`).
import os from "node:os";
import path from "node:path";

export const FACTS_PLACES = Object.freeze([
  "prependSystemContext", "appendSystemContext", "prependContext", "appendContext",
]);
/** Recall changes from turn to turn, so the cached system prompt is not among its places. */
export const RECALL_PLACES = Object.freeze(["prependContext", "appendContext"]);

export const CONTEXT_MODES = Object.freeze(["recursive", "world"]);
const FRESH_TAIL = Object.freeze({ recursive: 20, world: 32 });

export const SETTINGS = Object.freeze({
  socketPath: {
    type: "string",
    description: "Unix socket of the memory service. Default: CLAWMARK_SOCKET, else "
      + "clawmark/clawmark.sock in the user's data folder.",
  },
  timeoutMs: {
    type: "integer", minimum: 20, maximum: 1500, default: 300,
    description: "The longest a turn may wait for memory, in milliseconds.",
  },
  toolTimeoutMs: {
    type: "integer", minimum: 100, maximum: 120000, default: 15000,
    description: "The longest a memory tool or command may take, in milliseconds.",
  },
  budgetChars: {
    type: "integer", minimum: 0, maximum: 100000, default: 12000,
    description: "The most characters that memory may add to one prompt. 0 adds nothing.",
  },
  factsPlacement: {
    type: "string", enum: FACTS_PLACES, default: "appendSystemContext",
    description: "Where facts go. The default keeps the prompt cache; see PLACEMENT.md.",
  },
  recallPlacement: {
    type: "string", enum: RECALL_PLACES, default: "appendContext",
    description: "Where recalled excerpts go: before or (if unset) after the newest message. "
      + "Setting it also vouches for a host version on which Clawmark has not been tested.",
  },
  allowSessions: {
    type: "array", items: { type: "string", maxLength: 200 }, maxItems: 50, default: [],
    description: "Globs over session keys. Sub-agent, cron, heartbeat and web-hook sessions get "
      + "no memory unless one of these matches, and one of the service's own inject_sessions. "
      + "Incognito sessions never do.",
  },
  denySessions: {
    type: "array", items: { type: "string", maxLength: 200 }, maxItems: 50, default: [],
    description: "Globs over session keys that get no memory. They win over allowSessions.",
  },
  toolsets: {
    type: "array", items: { type: "string", enum: ["clawmark", "wc", "rc"] }, maxItems: 3,
    default: ["clawmark", "wc", "rc"],
    description: "Which tools the agent has: clawmark (facts and recall, always in view), wc (the "
      + "state of the work) and rc (the whole history), both found by the host's tool search.",
  },
  contextMode: {
    type: "string", enum: CONTEXT_MODES, default: "recursive",
    description: "As context engine (plugins.slots.contextEngine): what stands for older messages. "
      + "recursive: a note, and the rc_* tools; world: summaries and where things were left off.",
  },
  freshTailCount: {
    type: "integer", minimum: 2, maximum: 500,
    description: "As context engine: the fewest newest messages that stay in the prompt as far as "
      + "the budget allows. Default: 20, in mode world 32.",
  },
  contextThreshold: {
    type: "number", minimum: 0.1, maximum: 1, default: 0.75,
    description: "In mode world: the share of the model's budget at which the tail is cut back to "
      + "what has no summary yet.",
  },
  memorySearch: {
    type: "boolean", default: true,
    description: "Add Clawmark's hits to the host's own memory_search.",
  },
  logQueries: {
    type: "boolean", default: false,
    description: "Write the cleaned query of each turn to the host's debug log: what a person said "
      + "is then in that log. For finding out why something is not recalled.",
  },
});

/**
 * The manifest's JSON Schema. The host fills in the defaults that it finds there; recallPlacement
 * has none, so that it can be told whether the operator has set it.
 */
export function configSchema() {
  const { default: _, ...recallPlacement } = SETTINGS.recallPlacement;
  return { type: "object", additionalProperties: false,
    properties: { ...SETTINGS, recallPlacement } };
}

/**
 * Effective settings: the host's checked configuration over the defaults. A value that the host
 * should have refused is replaced by its default rather than trusted.
 */
export function resolveConfig(pluginConfig, env = process.env) {
  const given = pluginConfig && typeof pluginConfig === "object" ? pluginConfig : {};
  const config = {};
  for (const [name, rule] of Object.entries(SETTINGS)) {
    config[name] = accepts(rule, given[name]) ? given[name] : rule.default;
  }
  config.freshTailIsSet = config.freshTailCount !== undefined;
  config.freshTailCount ??= FRESH_TAIL[config.contextMode];
  config.socketPath = resolveSocketPath(config.socketPath, env);
  config.recallPlacementIsSet = accepts(SETTINGS.recallPlacement, given.recallPlacement);
  return Object.freeze(config);
}

function accepts(rule, value) {
  if (value === undefined || value === null) return false;
  if (rule.enum) return rule.enum.includes(value);
  if (rule.type === "integer") {
    return Number.isInteger(value) && value >= rule.minimum && value <= rule.maximum;
  }
  if (rule.type === "number") {
    return Number.isFinite(value) && value >= rule.minimum && value <= rule.maximum;
  }
  if (rule.type === "array") {
    return Array.isArray(value) && value.length <= rule.maxItems
      && value.every((item) => accepts(rule.items, item));
  }
  if (rule.type === "string") {
    return typeof value === "string" && value.length <= (rule.maxLength ?? 4096);
  }
  return typeof value === rule.type;
}

function resolveSocketPath(configured, env) {
  const home = env.HOME || os.homedir();
  const named = configured?.trim() || env.CLAWMARK_SOCKET?.trim();
  if (named) {
    return named === "~" || named.startsWith("~/") ? path.join(home, named.slice(1)) : named;
  }
  const data = env.XDG_DATA_HOME?.trim() || path.join(home, ".local", "share");
  return path.join(data, "clawmark", "clawmark.sock");
}
