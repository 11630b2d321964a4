// A conversation as units that may not be torn: an assistant's message with the results of the
// tools that it called; anything else alone. What no provider would take is mended: results without
// a call go, calls without a result go.

const CALLS = new Set(["toolCall", "toolUse", "tool_use"]);
const RESULT_ROLES = new Set(["toolResult", "tool"]);

/** @returns {string[]} ids of the tools that a message calls */
export function callIds(message) {
  if (message?.role !== "assistant" || !Array.isArray(message.content)) return [];
  return message.content.filter((part) => CALLS.has(part?.type)).map((part) => String(part.id));
}

const resultId = (message) => (RESULT_ROLES.has(message?.role)
  ? String(message.toolCallId ?? message.tool_call_id ?? "") : undefined);

/**
 * @param {object[]} messages as the host gives them, oldest first
 * @returns {{messages: object[], user: boolean}[]} units in the same order; `user`: a person's
 *   word, with which a turn begins
 */
export function unitsOf(messages) {
  const units = [];
  const open = new Map(); // id of a call that waits → its unit
  for (const message of messages) {
    if (message === null || typeof message !== "object") continue;
    const result = resultId(message);
    if (result !== undefined) {
      open.get(result)?.messages.push(message);
      open.delete(result); // a second result of one call goes, too
      continue;
    }
    const unit = { messages: [message], user: message.role === "user" };
    for (const id of callIds(message)) open.set(id, unit);
    units.push(unit);
  }
  return units.map((unit) => closed(unit, open, unit === units.at(-1)))
    .filter((unit) => unit.messages.length > 0);
}

/** Calls that nothing answered leave their message; those of the newest one are still at work. */
function closed(unit, open, newest) {
  const [first, ...results] = unit.messages;
  const unanswered = callIds(first).filter((id) => open.get(id) === unit);
  if (unanswered.length === 0 || (newest && results.length === 0)) return unit;
  const content = first.content.filter((part) =>
    !CALLS.has(part?.type) || !unanswered.includes(String(part.id)));
  const says = content.some((part) => part?.type !== "thinking" && (part?.text ?? "x") !== "");
  return { ...unit, messages: says ? [{ ...first, content }, ...results] : results.slice(0, 0) };
}
