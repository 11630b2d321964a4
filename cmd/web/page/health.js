// How it is, what was set aside, what it cost.

import { h, put, act, s, ask, status, when, number, counted, heading, badge, table, confirmed, toast } from './dom.js';

const kinds = { ok: 'ok', warning: 'warning', red: 'bad' };

function warnings(now) {
  if (!now.warnings?.length) return h('p', { class: 'ok' }, '● All is well.');
  return now.warnings.map((one) => h('div', { class: 'card' + (one.red ? ' error' : '') },
    h('p', {}, badge(one.severity, one.red ? 'bad' : 'warning'), h('strong', {}, one.code), ': ', one.message),
    one.remedy ? h('p', {}, 'Remedy: ', h('code', {}, one.remedy)) : null));
}

function parked(rows, reload) {
  return table(`${number(rows.length)} set aside`, [
    { name: 'Worker', cell: (row) => row.worker },
    { name: 'Message', number: true, cell: (row) => String(row.message) },
    { name: 'Reason', cell: (row) => `${row.reason}: ${row.detail}` },
    { name: 'Since', cell: (row) => when(row.parked_at) },
    { name: 'Tries', number: true, cell: (row) => String(row.attempts) },
    { name: 'Again', cell: (row) => (row.retry ? 'is tried again' : h('button', { type: 'button', 'aria-label': `Try event ${row.event} again`, onclick: act(async () => {
      const sure = await confirmed({ title: `Try event ${row.event} again?`, action: 'Try again', danger: false,
        body: h('p', {}, `${row.worker}, message ${row.message}, set aside for: ${row.reason} (${row.detail})`) });
      if (!sure) return;
      const done = await ask('parked_retry', { event: row.event });
      await reload();
      toast(`${number(done.retried)} to be tried again.`);
    }) }, 'Try again …')) },
  ], rows);
}

// A bar a day: dollars, or tokens where nothing cost any.
function chart(days, value, name) {
  const most = Math.max(...days.map(value), 1e-9), width = 700 / days.length;
  return s('svg', { class: 'bars', viewBox: '0 0 700 120', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${name} a day, at most ${number(most)}` },
    days.map((one, i) => s('rect', { x: i * width + 1, width: Math.max(1, width - 2), y: 110 - (value(one) / most) * 100, height: Math.max(1, (value(one) / most) * 100) },
      s('title', {}, `${one.day}: ${number(value(one))}`))));
}

function cost(found) {
  if (found.spend.length === 0) return h('p', { class: 'soft' }, 'No model was asked in the last 30 days: the built-in ones cost nothing.');
  const days = new Map();
  for (const row of found.spend) {
    const one = days.get(row.day) ?? { day: row.day, usd: 0, tokens: 0 };
    one.usd += row.usd;
    one.tokens += row.input_tokens + row.output_tokens;
    days.set(row.day, one);
  }
  const list = [...days.values()];
  const paid = list.some((one) => one.usd > 0);
  return [chart(list, paid ? (one) => one.usd : (one) => one.tokens, paid ? 'Dollars' : 'Tokens'),
    table('By day, worker and model', [
      { name: 'Day', cell: (row) => row.day }, { name: 'Worker', cell: (row) => row.worker }, { name: 'Model', cell: (row) => row.model },
      { name: 'Calls', number: true, cell: (row) => number(row.calls) },
      { name: 'Tokens in', number: true, cell: (row) => number(row.input_tokens) }, { name: 'Tokens out', number: true, cell: (row) => number(row.output_tokens) },
      { name: 'Dollars', number: true, cell: (row) => row.usd.toFixed(4) }], [...found.spend].reverse())];
}

export async function health(main, rest, signal) {
  const [now, aside, spent] = await Promise.all([status(signal), ask('parked_list', {}, signal), ask('spend', { days: 30 }, signal)]);
  const counts = now.counts ?? {};
  const caps = [now.spend?.tokens_max > 0 ? `${number(now.spend.tokens_max)} tokens` : '', now.spend?.usd_max > 0 ? `$${now.spend.usd_max}` : ''].filter(Boolean);
  put(main, heading('Health & cost', `Clawmark ${now.version}, store ${now.store}`),
    h('p', {}, badge(now.health, kinds[now.health])), warnings(now),
    h('section', { class: 'card', 'aria-label': 'Memory' }, h('h3', {}, 'Memory'), h('dl', { class: 'facts-grid' },
      [['Messages', `${number(counts.messages)} in ${counted(counts.sessions ?? 0, 'session')}, ${number(counts.recallable)} recallable`],
        ['Facts', `${number(counts.facts)}, ${number(counts.facts_stated)} of them stated`], ['Events', number(counts.events)],
        ['Newest message', when(counts.newest_message_at)], ['Texts that are gone', number(counts.texts_gone)]]
        .map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))),
    h('h3', {}, 'Set aside'), parked(aside.parked, () => health(main, rest, signal)),
    h('h3', {}, 'Sources'), table('What is read', [
      { name: 'Carrier', cell: (row) => row.carrier }, { name: 'State', cell: (row) => badge(row.state, row.state === 'ok' ? 'ok' : row.state === 'retired' ? '' : 'warning') },
      { name: 'Newest', cell: (row) => when(row.newest_at) }, { name: 'Path', cell: (row) => h('span', { class: 'mono' }, row.path) }],
    (now.sources ?? []).filter((row) => row.state !== 'absent')),
    h('h3', {}, 'Workers'), table('Who has what before them', [
      { name: 'Worker', cell: (row) => row.name }, { name: 'State', cell: (row) => row.state },
      { name: 'Before it', number: true, cell: (row) => number(row.lag) }, { name: 'Trouble', cell: (row) => row.failure }], now.workers ?? []),
    h('h3', {}, 'Cost of the last 30 days'), h('p', { class: 'soft' }, caps.length ? `A day may cost ${caps.join(' and ')}.` : 'A day has no cap (daily_tokens_max, daily_usd_max).'), cost(spent));
}
