// A conversation as units that may not be torn: an assistant's message with the results of the
// tools that it called; anything else alone. What no provider would take is mended: results without
// a call, calls without a result and messages without a word go.

const CALLS = new Set(["toolCall", "toolUse", "tool_use"]);
const RESULT_ROLES = new Set(["toolResult", "tool"]);
const SPEAKERS = new Set(["user", "assistant"]);

const isCall = (part) => CALLS.has(part?.type);

/** @returns {string[]} ids of the tools that a message calls */
export function callIds(message) {
  if (message?.role !== "assistant" || !Array.isArray(message.content)) return [];
  return message.content.filter(isCall).map((part) => String(part.id));
}

export const isResult = (message) => RESULT_ROLES.has(message?.role);
const resultId = (message) => String(message.toolCallId ?? message.tool_call_id ?? "");

/**
 * @param {object[]} messages as the host gives them, oldest first
 * @param {{asked?: boolean}} how `asked`: the host adds a person's word behind them, so that no
 *   call can still be at work
 * @returns {{messages: object[], user: boolean}[]} units in the same order; `user`: a person's
 *   word, with which a turn begins
 */
export function unitsOf(messages, { asked = false } = {}) {
  const units = [];
  const open = new Map(); // id of a call that waits → its unit: ids come again, the newest counts
  for (const message of messages) {
    if (isResult(message)) {
      const unit = open.get(resultId(message));
      unit?.messages.push(message);
      unit?.waiting.delete(resultId(message));
      open.delete(resultId(message)); // a second result of one call goes, too
    } else if (saysSomething(message)) {
      const unit = { messages: [message], user: message.role === "user",
        waiting: new Set(callIds(message)) };
      for (const id of unit.waiting) open.set(id, unit);
      units.push(unit);
    }
  }
  return units.map((unit, at) => closed(unit, !asked && at === units.length - 1))
    .filter((unit) => unit.messages.length > 0);
}

function saysSomething(message) {
  if (typeof message?.role !== "string" || message.role === "") return false;
  const { role, content } = message;
  if (!SPEAKERS.has(role) || message.tool_calls?.length > 0) return true;
  return Array.isArray(content) ? content.some(isSaid) : isSaid(content ?? message.text);
}

/** A part, or a content that is one text. */
function isSaid(part) {
  if (typeof part === "string") return part.trim() !== "";
  if (part === null || typeof part !== "object") return false;
  if (typeof part.text === "string") return part.text.trim() !== "";
  return part.type !== "text";
}

/** Parts without a word go, and calls that nothing answered; `working`: those may still be. */
function closed({ messages, user, waiting }, working) {
  const [first, ...results] = messages;
  if (!SPEAKERS.has(first.role) || !Array.isArray(first.content)) return { messages, user };
  const left = working && results.length === 0 ? new Set() : new Set(waiting);
  const content = first.content.filter((part) => {
    if (!isCall(part)) return isSaid(part);
    const stays = !left.has(String(part.id));
    left.add(String(part.id)); // the second call of one id in a message
    return stays;
  });
  if (content.length === first.content.length) return { messages, user };
  const says = waiting.size === 0 || content.some((part) => part.type !== "thinking");
  return { messages: says ? [{ ...first, content }, ...results] : [], user };
}
