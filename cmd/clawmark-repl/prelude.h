#pragma once
// What a script finds in its world beside the language itself: functions that ask the service.
// Nothing here is a wall: whose history is asked is decided at the other end.

namespace clawmark::repl {

constexpr char kPrelude[] = R"js(
(function (host, emit, finish) {
  'use strict';
  const stringify = JSON.stringify, join = Array.prototype.join, map = Array.prototype.map;
  const options = (given) => (given !== null && typeof given === 'object' ? given : {});
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return String(value);
    if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') {
      return String(value);
    }
    try {
      const text = stringify(value, null, 1);
      return text === undefined ? String(value) : text;
    } catch (error) {
      return String(value);
    }
  };
  const world = {
    peek: (offset = 0, length = 10, sessionId) => host('peek', { offset, length, sessionId }),
    grep: (pattern, more) => host('grep', { ...options(more), pattern: String(pattern) }),
    slice: (start, end, sessionId) => host('slice', { start, end, sessionId }),
    timeline: (more) => host('timeline',
      typeof more === 'string' ? { sessionId: more } : { ...options(more) }),
    query: (question, more) => host('query', { ...options(more), question: String(question) }),
    llm_query: (prompt, context) => host('llm_query', { prompts: [String(prompt)], context })[0],
    llm_query_parallel: (prompts, context) =>
      host('llm_query', { prompts: map.call(prompts, String), context }),
    store: (name, value) => host('store', { name: String(name), value }),
    get: (name) => host('get', { name: String(name) }),
    print: (...values) => emit(join.call(map.call(values, show), ' ')),
    FINAL: (value) => finish(stringify(value === undefined ? null : value) ?? 'null'),
    FINAL_VAR: (name) => finish(stringify(host('get', { name: String(name) })) ?? 'null'),
    len: (value) => (value === null || value === undefined ? 0 : value.length ?? 0),
    chunk: (text, size = 4000) => {
      const out = [];
      const step = Math.max(1, size | 0);
      for (let at = 0; at < text.length; at += step) out.push(text.slice(at, at + step));
      return out;
    },
  };
  world.console = { log: world.print, error: world.print, warn: world.print, info: world.print };
  Object.assign(globalThis, world);
})
)js";

}  // namespace clawmark::repl
