// Who speaks in a direct chat. The host's memory_search names the session but not the sender; in
// a direct chat with its own session the key ends with the sender's id, and the host told that id
// when the turn began. Only where both agree is it passed on. Groups are left alone.

const KNOWN_MAX = 256;
/**
 * Session key → sender id, least recently seen first. The host loads the plugin once for its hooks
 * and once more for its context engine, in one process: both know the same.
 */
const known = globalThis[Symbol.for("clawmark.senders")] ??= new Map();

/** @param {{session_key?: string, sender_id?: string}} caller as the host gave it for a turn */
export function rememberSender({ session_key: key, sender_id: sender }) {
  if (!key || !sender || peerOf(key) !== sender.toLowerCase()) return;
  known.delete(key);
  known.set(key, sender);
  if (known.size > KNOWN_MAX) known.delete(known.keys().next().value);
}

/** @returns {string | undefined} the id as the channel spells it */
export function knownSender(sessionKey) {
  return known.get(sessionKey);
}

/** `agent:<id>:<channel>[:<account>]:direct:<peer>` → peer; undefined for all other keys. */
function peerOf(sessionKey) {
  const match = /^agent:[^:]+:[^:]+(?::[^:]+)?:(?:direct|dm):(.+)$/i.exec(sessionKey);
  return match?.[1].toLowerCase();
}
