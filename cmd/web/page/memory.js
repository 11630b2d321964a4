// Timeline, facts with their history, audit.

import { h, put, act, s, ask, when, number, percent, counted, heading, failure, badge, sureness, quote, table, search, field, choice, forget, explained, holder } from './dom.js';

// --- timeline ------------------------------------------------------------------------------------

function messageBox(message, reload) {
  const who = message.speaker || message.role;
  return h('article', { class: 'message ' + message.role, 'aria-label': `Message of ${who}` },
    h('p', { class: 'soft' }, `${when(message.at)} · ${who} · message ${message.id}`),
    h('p', {}, message.text ?? '(its text can no longer be read)'),
    explained(message.id, 'What was understood of it'),
    h('p', {}, h('button', { type: 'button', class: 'link', onclick: act(async () => {
      if (await forget(`message ${message.id}`, { message: message.id })) await reload();
    }) }, 'Forget this message …')));
}

async function fillDay(box, period, reload) {
  const range = period.messageIndexRange;
  let next = { start: range.start, char: 0 };
  const messages = h('div', {});
  const more = h('button', { type: 'button' }, 'More of this day');
  const load = async () => {
    const found = await ask('rc_slice', { sessionId: 'all', start: next.start, end: range.end + 1, char: next.char });
    messages.append(...(found.details?.messages ?? []).map((message) => messageBox(message, reload)));
    next = found.details?.next;
    if (!next || next.start > range.end) more.remove();
  };
  more.addEventListener('click', act(load));
  box.append(messages, more);
  try {
    await load();
  } catch (error) {
    box.append(failure(error));
  }
}

function dayBox(period, most, happened, reload) {
  const box = h('details', { class: 'day' }, h('summary', {},
    h('strong', {}, period.period),
    h('span', {}, s('svg', { width: 120, height: 12, 'aria-hidden': 'true' }, s('rect', { width: Math.max(2, Math.round((120 * period.messageCount) / most)), height: 12 })),
      h('span', { class: 'soft' }, ' ' + counted(period.messageCount, 'message'))),
    h('span', {}, happened.map((row) => badge(`${row.type.replace('_', ' ')}: ${row.title}`)),
      h('span', { class: 'soft' }, period.topKeywords.join(' · ')))));
  box.addEventListener('toggle', () => {
    if (box.open && box.childElementCount === 1) fillDay(box, period, reload);
  });
  return box;
}

export async function timeline(main, rest, signal) {
  const days = h('div', {});
  const older = h('button', { type: 'button' }, 'Earlier days');
  let before;
  const load = async () => {
    const [found, happened] = await Promise.all([
      ask('rc_timeline', { sessionId: 'all', bucket: 'day', limit: 60, ...(before ? { before } : {}) }, signal),
      ask('episodes', { action: 'list', limit: 100 }, signal)]);
    const periods = [...(found.details?.periods ?? [])].reverse();
    const most = Math.max(1, ...periods.map((period) => period.messageCount));
    const episodes = happened.details?.episodes ?? [];
    const reload = () => timeline(main, rest, signal);
    days.append(...periods.map((period) => dayBox(period, most, episodes.filter((row) => row.date === period.period), reload)));
    before = found.details?.before;
    older.hidden = !before;
    return found.details?.total ?? 0;
  };
  older.addEventListener('click', act(load));
  const total = await load();
  put(main, heading('Timeline', `${counted(total, 'message')}, the newest day first. Open a day to read it.`),
    total === 0 ? h('p', { class: 'soft' }, 'Nothing was read yet.') : days, older);
}

// --- facts ---------------------------------------------------------------------------------------

const kChanges = { create: 'learnt', update: 'changed', reinforce: 'heard again', delete: 'forgotten', reject: 'not taken',
  conflict_skip: 'left as stated', injection_blocked: 'withheld: reads like an order', extract_error: 'could not be extracted' };

function valueItem(value) {
  const until = value.valid_to ? ` until ${when(value.valid_to)}` : ', in force';
  return h('li', { class: value.valid_to ? null : 'now' }, h('strong', {}, value.value),
    h('p', { class: 'soft' }, `${when(value.valid_from)}${until} · ${value.source === 'user' ? 'stated' : 'concluded'} · for ${value.holder}` +
      (value.message > 0 ? ` · message ${value.message}` : '')),
    quote(value.quote));
}

async function factDetail(box, key, fact, reload, signal) {
  const found = await ask('fact', { key }, signal);
  put(box, h('h2', { tabindex: -1, 'data-focus': true, class: 'mono' }, key),
    fact ? h('dl', { class: 'facts-grid' },
      h('dt', {}, 'Value'), h('dd', {}, fact.value),
      h('dt', {}, 'For'), h('dd', {}, fact.holder + (fact.subject ? `, about ${fact.subject}` : '')),
      h('dt', {}, 'Sure'), h('dd', {}, sureness(fact.effective_confidence)),
      h('dt', {}, 'In prompts'), h('dd', {}, fact.injected ? 'yes' : 'no: below the threshold')) : h('p', { class: 'soft' }, 'Not in force any more.'),
    h('h3', {}, 'Every value it had'),
    h('ul', { class: 'trail' }, [...found.values].reverse().map(valueItem)),
    h('h3', {}, 'Evidence'),
    found.observations.length === 0 ? h('p', { class: 'soft' }, 'None.') : h('ul', { class: 'trail' }, found.observations.map((row) =>
      h('li', {}, `${row.kind} as “${row.value}” (${row.state}), event ${row.event}`, row.message > 0 ? `, message ${row.message}` : '', quote(row.quote)))),
    h('h3', {}, 'Audit'),
    h('ul', { class: 'trail' }, found.changes.map((row) =>
      h('li', {}, `${when(row.at)}: ${kChanges[row.type] ?? row.type}` + (row.new_value ? `: ${row.new_value}` : '')))),
    fact ? h('button', { type: 'button', class: 'danger', onclick: act(async () => {
      if (await forget(key, { key, as: fact.holder })) await reload();
    }) }, 'Forget …') : null);
}

export async function facts(main, rest, signal) {
  const [key, whose] = rest;
  const found = await ask('facts', {}, signal);
  const list = h('div', {});
  let wanted = '', only = '';
  const draw = () => {
    const rows = found.facts.filter((fact) => (only === '' || (only === 'injected') === fact.injected) &&
      `${fact.key} ${fact.value} ${fact.holder}`.toLowerCase().includes(wanted.toLowerCase()));
    put(list, table(counted(rows.length, 'fact'), [
      { name: 'Key', cell: (fact) => h('a', { class: 'mono', href: `#/facts/${encodeURIComponent(fact.key)}/${encodeURIComponent(fact.holder)}` }, fact.key) },
      { name: 'Value', cell: (fact) => [fact.value, fact.injected ? null : [' ', badge('held back', 'warning')]] },
      { name: 'For', short: true, cell: (fact) => holder(fact.holder) },
      { name: 'Sure', number: true, cell: (fact) => (fact.source === 'user' ? 'stated' : percent(fact.effective_confidence)) },
      { name: 'Last said', short: true, cell: (fact) => fact.date },
    ], rows, (fact) => ({ class: fact.injected ? null : 'off' })));
  };
  draw();
  const detail = h('section', { class: 'card', 'aria-label': 'Fact' }, h('p', { class: 'soft' }, 'Choose a fact to see its history.'));
  put(main, heading('Facts', 'What is told to the agent in every prompt of those that it is for.'),
    h('div', { class: 'controls' }, search('Filter', '', (text) => { wanted = text; draw(); }),
      field('Show', choice([['', 'all'], ['injected', 'in prompts'], ['held', 'held back']], '', (value) => { only = value; draw(); }))),
    h('div', { class: 'split' }, list, detail));
  if (!key) return;
  const fact = found.facts.find((one) => one.key === key && (!whose || one.holder === whose));
  await factDetail(detail, key, fact, () => facts(main, [], signal), signal);
}

// --- audit ---------------------------------------------------------------------------------------

async function changesList(box, type, signal) {
  const body = h('div', {});
  const more = h('button', { type: 'button' }, 'Earlier');
  let before = 0;
  const load = async () => {
    const found = await ask('changes', { limit: 50, ...(before ? { before } : {}), ...(type ? { type } : {}) }, signal);
    if (found.changes.length < 50) more.remove();
    before = found.changes.at(-1)?.id ?? 0;
    if (found.changes.length === 0 && body.childElementCount > 0) return;
    body.append(table(`${number(found.changes.length)} changes`, [
      { name: 'When', short: true, cell: (row) => when(row.at) },
      { name: 'What', cell: (row) => kChanges[row.type] ?? row.type.replaceAll('_', ' ') },
      { name: 'Key', cell: (row) => h('a', { class: 'mono', href: `#/facts/${encodeURIComponent(row.key)}` }, row.key) },
      { name: 'Before', cell: (row) => row.old_value },
      { name: 'After', cell: (row) => row.new_value },
      { name: 'By', cell: (row) => row.source },
      { name: 'Event', number: true, cell: (row) => String(row.event) },
    ], found.changes));
  };
  more.addEventListener('click', act(load));
  await load();
  put(box, body, more);
}

async function eventsList(box, type, signal) {
  const found = await ask('events', { limit: 100, ...(type ? { type, after: 0, limit: 1000 } : {}) }, signal);
  const rows = [...found.events].reverse().slice(0, 100);
  put(box, table(`${number(rows.length)} of ${number(found.head)} events, the newest first`, [
    { name: 'Event', number: true, cell: (row) => String(row.seq) },
    { name: 'Type', cell: (row) => h('code', {}, row.type) },
    { name: 'Happened', short: true, cell: (row) => when(row.occurred_at) },
    { name: 'Recorded', short: true, cell: (row) => when(row.recorded_at) },
    { name: 'Where', cell: (row) => row.session_key },
    { name: 'Payload', cell: (row) => (row.redacted ? '(taken out)' : h('details', {}, h('summary', {}, 'Show'), h('pre', {}, JSON.stringify(row.payload, null, 2)))) },
  ], rows));
}

export async function audit(main, rest, signal) {
  const which = rest[0] === 'events' ? 'events' : 'changes';
  const body = h('div', {});
  const types = which === 'changes'
    ? [['', 'all'], ...Object.entries(kChanges), ['source_fallback', 'a source drifted']]
    : [['', 'all'], ...['message.observed', 'extraction.completed', 'graph.completed', 'fact.stated', 'fact.forgotten', 'message.forgotten',
      'batch.parked', 'source.fallback', 'summary.completed', 'event.redacted'].map((name) => [name, name])];
  const load = (type) => (which === 'changes' ? changesList : eventsList)(body, type, signal);
  await load('');
  put(main, heading('Audit', which === 'changes' ? 'Every decision about a fact, the newest first.' : 'The log itself: append-only, chained by hash.'),
    h('div', { class: 'controls' },
      field('Look at', choice([['changes', 'what changed'], ['events', 'the log']], which, (value) => { location.hash = '#/audit/' + value; })),
      field('Type', choice(types, '', (type) => load(type).catch((error) => put(body, failure(error)))))),
    body);
}
