// The tools. Each call goes to the daemon as it is; what may be seen or changed is
// decided there, from the context that the host gave to the tool factory.
import { callerFromTool } from "./caller.js";
import { rememberSender } from "./senders.js";
import { isIncognito } from "./sessions.js";
import { HISTORY_TOOLS } from "./history_tools.js";
import { WORLD_TOOLS } from "./world_tools.js";

export const NOT_RUNNING = "memory service not running";
const TEXT_CHARS_MAX = 60_000;

const string = (description) => ({ type: "string", description });

/** The five core tools (toolset `clawmark`). */
export const TOOLS = Object.freeze([
  {
    name: "clawmark_set",
    label: "Remember",
    description: "Remember one durable fact for all later conversations. Use it when the user "
      + "states a lasting preference, decision, name or lesson, or asks you to remember "
      + "something. A fact under the same key is replaced.",
    required: ["key", "value"],
    properties: {
      key: string("Dotted name, lower case, under pref. project. user. or lesson., for example "
        + "pref.editor.indent; at most 100 characters"),
      value: string("The fact in one short sentence; at most 2000 characters"),
    },
  },
  {
    name: "clawmark_search",
    label: "Search memory",
    description: "Search long-term memory: facts, and excerpts of earlier conversations. Use it "
      + "before saying that you do not know something the user may have told you before.",
    required: ["query"],
    properties: {
      query: string("What to look for, in plain words, names or identifiers"),
      limit: { type: "integer", minimum: 1, maximum: 50, description: "Most hits to return" },
    },
  },
  {
    name: "clawmark_reconcile",
    label: "Update memory now",
    description: "Read new conversation history into memory now instead of in the background, "
      + "and say what remains to be done.",
    required: [],
    properties: {
      drain: { type: "boolean", default: true, description: "Go on until nothing remains" },
    },
  },
  {
    name: "clawmark_review",
    label: "Review memory",
    description: "List facts that memory concluded by itself and that nobody has confirmed "
      + "lately, so that the user can keep or drop them.",
    required: [],
    properties: {
      days: { type: "integer", minimum: 0, default: 90,
        description: "Not confirmed for this many days" },
    },
  },
  {
    name: "clawmark_forget",
    label: "Forget",
    description: "Forget something for good, when the user asks for it: a fact by its key, a "
      + "message by its id (clawmark_search shows both), the current session, all the user said, "
      + "or what a query finds. The last three answer with a list first; show it to the user and "
      + "ask again with its confirm code.",
    required: [],
    properties: {
      key: string("Key of the fact, exactly as clawmark_search shows it"),
      message: string("Id of a message, exactly as clawmark_search shows it"),
      session: string("Id of a session, or current"),
      person: string("A person's id, or me"),
      query: string("Words that all have to be in what is forgotten"),
      confirm: string("Code of the list that the user agreed to"),
    },
  },
]);

/** By the name that the setting `toolsets` has for them. The manifest lists all of them. */
export const TOOLSETS = Object.freeze({ clawmark: TOOLS, wc: WORLD_TOOLS, rc: HISTORY_TOOLS });

export function registerTools(api, { link, config }) {
  for (const [name, tools] of Object.entries(TOOLSETS)) {
    if (!config.toolsets.includes(name)) continue;
    for (const spec of tools) {
      api.registerTool(toolFactory(spec, { link, config }), { name: spec.name });
    }
  }
}

export function toolFactory(spec, { link, config }) {
  return (toolContext) => {
    if (isIncognito(toolContext?.sessionKey)) return null;
    const caller = callerFromTool(toolContext);
    rememberSender(caller);
    return {
      name: spec.name,
      label: spec.label,
      description: spec.description,
      // Without it the host's tool search keeps a tool out of prompts until it is looked for.
      ...(TOOLS.includes(spec) ? { catalogMode: "direct-only" } : {}),
      parameters: {
        type: "object", additionalProperties: false, required: spec.required,
        properties: spec.properties,
      },
      execute: (toolCallId, params, signal) =>
        callTool({ link, config, name: spec.name, caller, params, signal,
          timeoutMs: spec.timeoutMs }),
    };
  };
}

/** Never throws: an agent without memory is told so and goes on. */
export async function callTool({ link, config, name, caller, params, signal, timeoutMs = 0 }) {
  try {
    const answer = await link.insist(`/v1/tools/${name}`, { caller, params: params ?? {} },
      { timeoutMs: Math.max(timeoutMs, config.toolTimeoutMs), signal });
    if (!answer.ok) return unavailable(answer);
    const details = { ...answer.value.details };
    if (answer.value.ok === false) details.refused = true;
    return result(String(answer.value.text ?? ""), details);
  } catch (error) {
    return unavailable({ kind: "failed", detail: error.message });
  }
}

function unavailable({ kind, detail }) {
  if (kind === "refusal") return result(`memory service refused: ${detail}`, { refused: true });
  const text = kind === "timeout"
    ? `memory service did not answer in time (${detail}); whether it did what was asked is unknown`
    : `${NOT_RUNNING} (${detail})`;
  return result(`${text}. The conversation can go on without it. The user can check with: `
    + "clawmark doctor", { available: false, why: kind });
}

function result(text, details) {
  const shown = text.length > TEXT_CHARS_MAX
    ? `${text.slice(0, TEXT_CHARS_MAX).toWellFormed()}\n… (shortened)` : text;
  return { content: [{ type: "text", text: shown }], details };
}
