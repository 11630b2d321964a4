// What the model is told about the history that is not in its context. It stands before the whole
// conversation in the request, so it changes seldom: counts are rounded down to 1, 2 or 5 times a
// power of ten.

/** The tools by which a model reaches the history, in the order in which they are named. */
export const HISTORY_TOOLS = Object.freeze([
  "clawmark_search",
  "rc_grep",
  "rc_peek",
  "rc_slice",
  "rc_timeline",
  "rc_query",
  "rc_repl",
]);

/**
 * @param {{messages: number, sessions: number, oldest_day?: string}} counts of what the caller may
 *   see
 * @param {Iterable<string> | undefined} available names of this run's tools; undefined: not known
 * @returns {string} "" when there is nothing to tell
 */
export function manifestText(counts, available) {
  if (!counts || !(counts.messages > 0)) return "";
  const there =
    available === undefined
      ? HISTORY_TOOLS.slice(0, 1)
      : HISTORY_TOOLS.filter((name) => new Set(available).has(name));
  const since = counts.oldest_day ? ` since ${counts.oldest_day}` : "";
  const lines = [
    "## History outside this context",
    "Only the newest messages of this conversation are shown. Everything said before is kept " +
      `word for word: ${atLeast(counts.messages, "message")} in ` +
      `${atLeast(counts.sessions, "conversation")}${since}.`,
  ];
  if (there.length > 0) {
    lines.push(
      `When something earlier matters, look it up with ${list(there)} instead of ` +
        "guessing or asking again.",
    );
  }
  return lines.join("\n");
}

function atLeast(count, noun) {
  const round = roundDown(count);
  const more = round < count ? "more than " : "";
  return `${more}${round.toLocaleString("en-US")} ${noun}${round === 1 ? "" : "s"}`;
}

/** @returns the largest of 1, 2, 5, 10, 20, 50, … that is not above `count` */
export function roundDown(count) {
  let step = 1;
  while (step * 10 <= count) step *= 10;
  if (step * 5 <= count) return step * 5;
  return step * 2 <= count ? step * 2 : step;
}

function list(names) {
  return names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}
