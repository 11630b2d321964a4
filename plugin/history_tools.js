// The six tools over the whole history (toolset `rc`). The host's tool search keeps them out of
// prompts until they are looked for, so their descriptions say what they are for in plain words.

const string = (description) => ({ type: "string", description });
const whole = (description, minimum, maximum) => (
  { type: "integer", minimum, maximum, description });
const sessionId = string("Id or key of a conversation as other answers show it, current, or all. "
  + "Default: this conversation, across its resets");
const since = string("From this local date or time on, for example 2026-11-20");
const before = string("Before this local date or time");
const scope = { type: "string", enum: ["current", "all"], default: "current",
  description: "This conversation, or all that you may see" };

/** How long a call may take, in ms, where a model or a script is waited for. */
const LONG_MS = 90_000;

/** The manifest's `contracts.tools` has the same names. */
export const HISTORY_TOOLS = Object.freeze([
  {
    name: "rc_peek",
    label: "Look at recent history",
    description: "Show messages of this conversation that are no longer in view, newest first by "
      + "offset, each shortened. Offset 0 is the newest.",
    required: ["offset"],
    properties: {
      offset: whole("How many of the newest messages to leave out", 0, 100_000_000),
      length: whole("How many to show (default 10)", 1, 50),
      sessionId,
    },
  },
  {
    name: "rc_grep",
    label: "Search history",
    description: "Search every message ever said in this or all earlier conversations, and "
      + "results of tools, by words (mode fts) or by a regular expression (mode regex). Shows the "
      + "place around each match, when it was said and its number for rc_slice.",
    required: ["pattern"],
    properties: {
      pattern: string("Words, or with mode regex a regular expression (RE2; case is ignored)"),
      mode: { type: "string", enum: ["fts", "regex"], default: "fts",
        description: "fts: by words, best first; regex: newest first" },
      scope,
      since,
      before,
      limit: whole("Most hits to return (default 20)", 1, 100),
      cursor: string("Go on where an earlier answer ended: the cursor it gave"),
      sessionId,
    },
  },
  {
    name: "rc_slice",
    label: "Read history",
    description: "Read whole messages of a conversation by their numbers, as rc_peek, rc_grep and "
      + "rc_timeline show them.",
    required: ["start", "end"],
    properties: {
      start: whole("Number of the first message", 0, 100_000_000),
      end: whole("Number behind the last message", 0, 100_000_000),
      char: whole("Start at this character of the first message, as an answer that was cut says",
        0, 100_000_000),
      sessionId,
    },
  },
  {
    name: "rc_timeline",
    label: "History by days",
    description: "What was spoken of when: for each local day the number of messages, their "
      + "numbers and the words that mark the day.",
    required: [],
    properties: {
      sessionId,
      bucket: { type: "string", enum: ["hour", "day", "month"], default: "day",
        description: "Length of a period" },
      since,
      before,
      limit: whole("Most periods to return, the newest (default 30)", 1, 100),
    },
  },
  {
    name: "rc_query",
    label: "Ask the history",
    description: "Have a cheap model answer a question from the whole history, with the messages "
      + "it rests on. Costs money within a budget; rc_grep is free.",
    required: ["question"],
    timeoutMs: LONG_MS,
    properties: {
      question: string("The question, in full"),
      scope,
      model: string("Another model than the configured one"),
      budget: { type: "number", minimum: 0,
        description: "US dollars that this question may cost, below the configured limit" },
    },
  },
  {
    name: "rc_repl",
    label: "Run code over history",
    description: "Run JavaScript over the history, apart from everything else: peek(offset, "
      + "length), slice(start, end), grep(pattern, {mode, scope, since, before, limit}), "
      + "timeline(), query(question), llm_query(prompt), llm_query_parallel(prompts), "
      + "store(name, value) and get(name) for later runs, print(...), FINAL(value). No files, no "
      + "network, a few seconds.",
    required: ["code"],
    timeoutMs: LONG_MS,
    properties: { code: string("JavaScript (ES2022); await works at the top") },
  },
]);
