#pragma once
// What a script finds in its world beside the language itself: functions that ask the service.
// Nothing here is a wall: whose history is asked is decided at the other end.

namespace clawmark::repl {

constexpr char kPrelude[] = R"js(
(function (ask, emit, finish) {
  'use strict';
  const toJson = JSON.stringify, parse = JSON.parse, replace = String.prototype.replace;
  // JSON writes half of a surrogate pair as an escape that is no text anywhere else.
  const half = /(?<=(?:^|[^\\])(?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;
  const stringify = (...given) => {
    const text = toJson(...given);
    return text === undefined ? text : replace.call(text, half, '\\ufffd');
  };
  const host = (name, given) => ask(name, parse(stringify(given)));
  const join = Array.prototype.join, map = Array.prototype.map;
  const define = Object.defineProperty, keysOf = Object.keys;
  const options = (given) => (given !== null && typeof given === 'object' ? given : {});
  // A list as scripts like it, which still says what the answer said beside it: where to go on,
  // what is missing.
  const listed = (answer, member) => {
    const list = answer[member] ?? [];
    for (const key of keysOf(answer)) {
      if (key !== member) define(list, key, { value: answer[key], writable: true });
    }
    return list;
  };
  // { sessionId, char }, or the session alone.
  const place = (more) => {
    if (more === null || typeof more !== 'object') return { sessionId: more };
    return { sessionId: more.sessionId, char: more.char };
  };
  // What a model is told: a value that is no text is sent as JSON, none is not sent.
  const told = (value) => {
    if (typeof value === 'string' || value === null || value === undefined) return value;
    if (typeof value === 'bigint' || value instanceof Error) return String(value);
    return stringify(value) ?? String(value);
  };
  const prompted = (value) => told(value) ?? String(value);
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
    peek: (offset = 0, length = 10, sessionId) =>
      listed(host('peek', { offset, length, sessionId }), 'messages'),
    grep: (pattern, more) =>
      listed(host('grep', { ...options(more), pattern: String(pattern) }), 'hits'),
    slice: (start, end, more) => host('slice', { start, end, ...place(more) }),
    timeline: (more) => listed(host('timeline',
      typeof more === 'string' ? { sessionId: more } : { ...options(more) }), 'periods'),
    query: (question, more) => host('query', { ...options(more), question: String(question) }),
    llm_query: (prompt, context) =>
      host('llm_query', { prompts: [prompted(prompt)], context: told(context) })[0],
    llm_query_parallel: (prompts, context) =>
      host('llm_query', { prompts: map.call(prompts, prompted), context: told(context) }),
    store: (name, value) => host('store', { name: String(name), value }),
    get: (name) => host('get', { name: String(name) }),
    print: (...values) =>
      emit(replace.call(join.call(map.call(values, show), ' '), /\0/g, '\ufffd')),
    FINAL: (value) => finish(stringify(value === undefined ? null : value) ?? 'null'),
    FINAL_VAR: (name) => finish(stringify(host('get', { name: String(name) })) ?? 'null'),
    len: (value) => (value === null || value === undefined ? 0 : value.length ?? 0),
    chunk: (text, size = 4000) => {
      const out = [];
      const step = Math.max(1, size | 0);
      for (let at = 0; at < text.length;) {
        let end = at + step; // not between the halves of a pair
        if (/^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(end - 1, end + 1))) end += 1;
        out.push(text.slice(at, end));
        at = end;
      }
      return out;
    },
  };
  world.console = { log: world.print, error: world.print, warn: world.print, info: world.print };
  Object.assign(globalThis, world);
})
)js";

}  // namespace clawmark::repl
