// The six tools of the world model (toolset `wc`). The host's tool search keeps them out of prompts
// until they are looked for, so their descriptions say what they are for in plain words.

const string = (description) => ({ type: "string", description });
const limit = { type: "integer", minimum: 1, maximum: 100, description: "Most rows to return" };
const number = (description) => ({ type: "integer", minimum: 1, description });
const at = string("As of then, for example 2026-11-20 or 2026-11-20T18:00:00Z");

/** The manifest's `contracts.tools` has the same names. */
export const WORLD_TOOLS = Object.freeze([
  {
    name: "wc_restore",
    label: "Restore the state of the work",
    description: "Where things stand: what was done last, tasks under way, blocked and to be done, "
      + "decisions and why, constraints, what happened lately, what may be out of date. Use it at "
      + "the start of a session, after a reset, or when asked what we were working on, what is "
      + "blocked or where we left off.",
    required: [],
    properties: { focus: string("A thing or topic to look at more closely"), at },
  },
  {
    name: "wc_search",
    label: "Search the world model",
    description: "Search the knowledge graph, episodes, summaries and the transcript of earlier "
      + "sessions by words.",
    required: ["query"],
    properties: {
      query: string("What to look for, in plain words, names or identifiers"),
      scope: { type: "string", enum: ["all", "graph", "episodes", "summaries", "transcript"],
        default: "all", description: "Where to look" },
      limit,
      at,
    },
  },
  {
    name: "wc_graph",
    label: "Look into the knowledge graph",
    description: "List the projects, components, decisions, tasks, people, constraints, concepts "
      + "and files that are known; show one with its history and relations; or walk to what "
      + "depends on it, blocks it or belongs to it.",
    required: ["action"],
    properties: {
      action: { type: "string", enum: ["list", "node", "traverse"],
        description: "list things, show one, or walk from one" },
      nodeType: { type: "string", enum: ["project", "component", "decision", "task", "person",
        "constraint", "concept", "file"], description: "Only things of this type" },
      name: string("Name of the thing, for node and traverse"),
      depth: { type: "integer", minimum: 1, maximum: 4, default: 1,
        description: "Steps to walk, for traverse" },
      limit,
      at,
    },
  },
  {
    name: "wc_episode",
    label: "What happened",
    description: "What happened and mattered in earlier sessions: decisions made, plans changed, "
      + "blockers found, breakthroughs, completions, errors.",
    required: ["action"],
    properties: {
      action: { type: "string", enum: ["list", "search"],
        description: "all, or those about query" },
      minSalience: { type: "number", minimum: 0, maximum: 1,
        description: "Only what mattered so much" },
      eventType: { type: "string", enum: ["decision", "plan_change", "blocker", "breakthrough",
        "completion", "error"], description: "Only of this kind" },
      query: string("What they are about, for search"),
      limit,
      at,
    },
  },
  {
    name: "wc_expand",
    label: "Open a summary",
    description: "Open a summary of an earlier conversation: its messages as they were said.",
    required: ["summaryId"],
    properties: {
      summaryId: string("Id of the summary, for example sum_42, as wc_search shows it"),
    },
  },
  {
    name: "wc_file",
    label: "Large contents and files",
    description: "Large tool results and attachments of earlier messages are kept outside the "
      + "context under an id (lf_…): list them with what they are, or read one back by lines or by "
      + "characters. Also lists the files that were spoken of, and what was said of one.",
    required: ["action"],
    properties: {
      action: { type: "string", enum: ["list", "get"], description: "list files, or show one" },
      id: string("Id of a large content (lf_…) or name of a file, for get"),
      fromLine: number("First line to read, from 1"),
      lines: { ...number("How many lines"), maximum: 2000, default: 200 },
      fromChar: number("First character to read, from 1; for contents with long lines"),
      chars: { ...number("How many characters"), minimum: 100, maximum: 12000 },
      limit,
      at,
    },
  },
]);
