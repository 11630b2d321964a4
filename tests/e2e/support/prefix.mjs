// What a provider's prompt cache can reuse: the longest common prefix with an earlier request.

/** A request as the model reads it: tools, then the messages in their order. */
export function linear(body) {
  return [JSON.stringify(body.tools ?? []), ...body.messages.map((one) => JSON.stringify(one))]
    .join("\n");
}

/** Beside the newest word the host tells of the chat it came from, anew in each turn. */
const isOfTheTurn = ({ role, content }) => role === "user"
  && (JSON.stringify(content) ?? "").includes("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>");

/** A request without what the host itself says anew in each turn, whatever engine it has. */
export function lasting(body) {
  return linear({ tools: body.tools, messages: body.messages.filter((one) => !isOfTheTurn(one)) });
}

/** For each request, the bytes beyond the longest prefix shared with any request before it. */
export function newBytes(bodies) {
  const seen = [];
  return bodies.map((body) => {
    const now = Buffer.from(linear(body));
    const shared = Math.max(0, ...seen.map((earlier) => commonPrefix(earlier, now)));
    seen.push(now);
    return now.length - shared;
  });
}

export function commonPrefix(a, b) {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a[at] === b[at]) at += 1;
  return at;
}

/** The part of a request before its newest message of a person. */
export function prefixBeforeNewest(body) {
  const newest = body.messages.findLastIndex((message) => message.role === "user"
    && !JSON.stringify(message.content).includes("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"));
  return linear({ tools: body.tools, messages: body.messages.slice(0, newest) });
}
