// What a prompt would get, and why each line is in it.

import { h, put, ask, when, percent, heading, failure, badge, field, explained } from './dom.js';

// Only as letters and digits, for showing what a line has in common with the prompt.
const words = (text) => new Set((text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []));

function highlighted(text, common) {
  const parts = text.split(/([\p{L}\p{N}]+)/u);
  return h('span', {}, parts.map((part) => (common.has(part.toLowerCase()) ? h('mark', {}, part) : part)));
}

// As the host would tell of who is asking there.
function callerOf(key) {
  const [, agent, channel, lane, ...peer] = key.split(':');
  const direct = lane === 'direct' || lane === 'dm';
  return { agent, session_key: key, channel: lane ? channel : '', trigger: 'user', ...(direct ? { sender_id: peer.join(':').split(':thread:')[0] } : {}) };
}

const linesOf = (block) => block.split('\n').filter((line) => line.startsWith('- '));

function factLine(line, known) {
  const key = line.slice(2, line.indexOf(':'));
  const fact = known.find((one) => one.key === key);
  const why = fact
    ? `${fact.source === 'user' ? 'Stated by a person: always told' : `Concluded, ${percent(fact.effective_confidence)} sure by now`}; for ${fact.holder}; last said ${fact.date}`
    : 'In sight of whoever asks there';
  return h('li', {}, h('p', {}, line.slice(2)), h('p', { class: 'soft' }, 'Why: ' + why + '.'), explained(key));
}

function recallLine(line, item, answer, prompt) {
  const common = new Set([...words(line)].filter((word) => prompt.has(word)));
  const state = item?.kind === 'state';
  const why = state
    ? 'Where things were left off: told in a session’s first prompt, whatever it asks'
    : item ? `Measured ${item.score.toFixed(2)}; ${Number(answer.threshold ?? 0).toFixed(2)} is enough` +
      (common.size ? `; in common: ${[...common].join(', ')}` : '; no word in common: found by meaning or by its neighbours')
      : 'Fits the prompt';
  return h('li', {}, h('p', {}, highlighted(line.slice(2), common)),
    h('p', {}, badge(state ? 'state' : 'recall'), item && !state ? h('meter', { min: 0, max: 1, value: item.score, 'aria-label': 'score' }) : null,
      h('span', { class: 'soft' }, ` Why: ${why}.` + (item ? ` From ${item.session_key}, ${when(new Date(item.at_ms).toISOString())}.` : ''))),
    item ? explained(String(item.id)) : null);
}

const kClosed = { lane: 'memory is closed in this kind of session', incognito: 'an incognito session: memory is off', no_identity: 'who asks is not known: the wall is closed',
  no_prompt: 'without a prompt only facts are told', inert: 'the configuration is incomplete' };

function result(answer, known, text) {
  const facts = linesOf(answer.facts_block), recalled = linesOf(answer.recall_block);
  const prompt = words(text);
  const matched = recalled.length === answer.items.length;
  const notes = [answer.skipped ? kClosed[answer.skipped] ?? answer.skipped : '', answer.refusal ? 'wall: ' + answer.refusal.replaceAll('_', ' ') : '',
    answer.degraded.length ? 'came short: ' + answer.degraded.join(', ') : ''].filter(Boolean);
  return h('div', {},
    h('p', { class: 'soft', role: 'status' }, `Looked for “${answer.query}” · ${answer.elapsed_ms < 1 ? 'under 1' : Math.round(answer.elapsed_ms)} ms · facts version ${answer.facts_version}`),
    notes.map((note) => h('p', { class: 'warning' }, note)),
    h('section', { class: 'card', 'aria-label': 'Facts' }, h('h3', {}, `Facts (${facts.length}), at the end of the system prompt`),
      facts.length ? h('ul', { class: 'trail' }, facts.map((line) => factLine(line, known))) : h('p', { class: 'soft' }, 'None is known there.')),
    h('section', { class: 'card', 'aria-label': 'Recall' }, h('h3', {}, `Recall (${recalled.length}), with the message`),
      recalled.length ? h('ul', { class: 'trail' }, recalled.map((line, i) => recallLine(line, matched ? answer.items[i] : undefined, answer, prompt)))
        : h('p', { class: 'soft' }, 'Nothing bears on it: nothing is recalled.')),
    h('details', {}, h('summary', {}, 'The block as it is sent'), h('pre', {}, [answer.facts_block, answer.recall_block].filter(Boolean).join('\n\n') || '(nothing)')));
}

export async function recall(main, rest, signal) {
  const [found, memory] = await Promise.all([ask('conversations', {}, signal), ask('facts', {}, signal)]);
  const keys = [...new Set(found.conversations.map((row) => row.session_key).filter(Boolean))];
  const prompt = h('textarea', { required: true, maxlength: 8000, 'data-filter': true }, rest[0] ?? '');
  const where = h('select', {}, h('option', { value: '' }, 'the owner, nowhere in particular'), keys.map((key) => h('option', { value: key }, key)));
  const out = h('div', {});
  const submit = async (event) => {
    event?.preventDefault();
    const params = { prompt: prompt.value };
    if (where.value) params.caller = callerOf(where.value);
    try {
      put(out, result(await ask('inject', params, signal), memory.facts, prompt.value));
    } catch (error) {
      put(out, failure(error));
    }
  };
  put(main, heading('Recall', 'What would be told to the model for a prompt, and why. Nothing is sent and nothing is changed.'),
    h('form', { onsubmit: submit }, field('Prompt', prompt),
      h('div', { class: 'controls' }, field('In conversation', where), h('button', { class: 'primary' }, 'Show what it would get'))),
    out);
  if (rest[0]) await submit();
}
