// Who is asking, in the daemon's words. Only the host's own context is read, never what a model
// chose; what is missing stays missing, because a missing identity closes a wall in the daemon.
import { knownSender } from "./senders.js";

/** From the context of `before_prompt_build` and other hooks. */
export function callerFromHook(context) {
  const ctx = context ?? {};
  return caller({
    agent: ctx.agentId,
    session_key: ctx.sessionKey,
    session_id: ctx.sessionId,
    channel: ctx.channel ?? ctx.messageProvider,
    sender_id: ctx.senderId ?? ctx.channelContext?.sender?.id,
    sender_is_owner: ctx.senderIsOwner,
    trigger: ctx.trigger,
  });
}

/** From the context that the host hands to a tool factory. */
export function callerFromTool(context) {
  const ctx = context ?? {};
  return caller({
    agent: ctx.agentId,
    session_key: ctx.sessionKey,
    session_id: ctx.sessionId,
    channel: ctx.messageChannel,
    sender_id: ctx.requesterSenderId,
    sender_is_owner: ctx.senderIsOwner,
    trigger: "tool",
  });
}

/** From the context of a slash command. */
export function callerFromCommand(context) {
  return { ...callerFromHook(context), trigger: "command" };
}

/** From the parameters of the host's memory_search. */
export function callerFromSearch({ agentId, agentSessionKey } = {}) {
  return caller({ agent: agentId, session_key: agentSessionKey, trigger: "memory_search",
    sender_id: knownSender(agentSessionKey) });
}

/** From a transcript update or a session hook. */
export function callerFromUpdate(update) {
  const target = update?.target ?? {};
  return caller({
    agent: update?.agentId ?? target.agentId,
    session_key: update?.sessionKey ?? target.sessionKey,
    session_id: update?.sessionId ?? target.sessionId,
  });
}

const WORD_MAX = 512;

function caller(fields) {
  const known = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name === "sender_is_owner") {
      if (typeof value === "boolean") known[name] = value;
    } else if (typeof value === "number") {
      known[name] = String(value);
    } else if (typeof value === "string" && value.trim() && value.length <= WORD_MAX) {
      known[name] = value.trim();
    }
  }
  if (known.sender_id?.toLowerCase() === "unknown") delete known.sender_id;
  return known;
}
