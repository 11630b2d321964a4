// `/clawmark`: memory for people, answered by the daemon without a model call.
import { callerFromCommand } from "./caller.js";
import { callTool } from "./tools.js";
import { isIncognito } from "./sessions.js";

export const USAGE = [
  "/clawmark status — how memory is doing",
  "/clawmark search TEXT — facts and excerpts of earlier conversations",
  "/clawmark facts — what the agent is told here at each turn",
  "/clawmark forget KEY — forget a fact for good",
].join("\n");

export function makeCommand({ link, config, health }) {
  const tool = async (ctx, name, params) => {
    const caller = callerFromCommand(ctx);
    const { content } = await callTool({ link, config, name, caller, params });
    return content[0].text || "Nothing found.";
  };
  const actions = {
    status: async () => statusText(await link.insist("/v1/status", undefined,
      { timeoutMs: config.toolTimeoutMs }), health()),
    search: (ctx, rest) => (rest ? tool(ctx, "clawmark_search", { query: rest }) : USAGE),
    forget: (ctx, rest) => (rest ? tool(ctx, "clawmark_forget", { key: rest }) : USAGE),
    facts: async (ctx) => factsText(await link.insist("/v1/inject",
      { caller: callerFromCommand(ctx), prompt: "", window: { count: 0 },
        budget_chars: config.budgetChars }, { timeoutMs: config.toolTimeoutMs })),
  };
  return {
    name: "clawmark",
    description: "Memory: status, search, facts, forget",
    acceptsArgs: true,
    requireAuth: true,
    async handler(ctx) {
      if (isIncognito(ctx?.sessionKey)) return { text: "Memory is off in incognito sessions." };
      const [, verb, rest] = /^\s*(\S*)\s*([\s\S]*)$/.exec(String(ctx?.args ?? ""));
      const action = Object.hasOwn(actions, verb || "status") ? actions[verb || "status"] : null;
      return { text: action ? await action(ctx, rest.trim()) : USAGE };
    },
  };
}

function factsText(answer) {
  if (!answer.ok) return notRunning(answer);
  if (answer.value.facts_block) return String(answer.value.facts_block);
  const why = answer.value.skipped ? ` (${answer.value.skipped})` : "";
  return `No facts are given to the agent here${why}.`;
}

function statusText(answer, warnings) {
  const lines = answer.ok ? describe(inOrder(answer.value)) : [notRunning(answer)];
  return [...lines, ...warnings.map((text) => `⚠️ ${text}`)].join("\n");
}

function notRunning({ detail }) {
  return `The memory service is not running (${detail}). Start it with: `
    + "systemctl --user start clawmark";
}

const LINES_MAX = 40;
const DEPTH_MAX = 2;

/** What a person asks first comes first; the rest is cut where it gets long. */
function inOrder({ health, warnings, plugin, ...rest }) {
  return { health, warnings, plugin, ...rest };
}

/** The daemon's status in lines, plain values only: its full form is `clawmark status`. */
function describe(status, prefix = "", depth = 0) {
  const lines = [];
  for (const [name, value] of Object.entries(status)) {
    if (name === "protocol" || value == null || value === "") continue;
    const label = prefix ? `${prefix} ${name}` : name;
    if (Array.isArray(value)) {
      const plain = value.map((one) => (typeof one === "object" ? one?.message ?? one?.code : one));
      if (value.length) lines.push(`${label}: ${plain.filter(Boolean).join("; ")}`);
    } else if (typeof value === "object") {
      if (depth < DEPTH_MAX) lines.push(...describe(value, label, depth + 1));
    } else {
      lines.push(`${label}: ${value}`);
    }
  }
  return lines.slice(0, LINES_MAX).map((line) => line.replaceAll("_", " "));
}
