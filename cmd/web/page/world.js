// The graph, drawn the same way each time, and what happened.

import { h, put, act, s, ask, day, percent, counted, shorten, heading, badge, table, search, field, choice, explained } from './dom.js';

const kTypes = ['project', 'component', 'decision', 'task', 'person', 'constraint', 'concept', 'file'];
const kWidth = 860, kHeight = 620;

const id = (type, key) => type + '\u001f' + key;

// Springs and repulsion from places on a spiral: no chance in it, so the same things stand at the same places.
export function layout(count, links) {
  const x = new Float64Array(count), y = new Float64Array(count);
  const wanted = Math.sqrt((kWidth * kHeight) / Math.max(count, 1)) * 0.75;
  for (let i = 0; i < count; i++) {
    const radius = wanted * 0.6 * Math.sqrt(i + 0.5), angle = i * 2.399963;
    x[i] = radius * Math.cos(angle) * 1.4;
    y[i] = radius * Math.sin(angle);
  }
  const rounds = 250;
  for (let round = 0; round < rounds; round++) {
    const dx = new Float64Array(count), dy = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      for (let j = i + 1; j < count; j++) {
        const ex = x[i] - x[j], ey = y[i] - y[j];
        const distance = Math.max(Math.hypot(ex, ey), 1);
        const force = (wanted * wanted) / (distance * distance);
        dx[i] += ex * force; dy[i] += ey * force;
        dx[j] -= ex * force; dy[j] -= ey * force;
      }
      dx[i] -= x[i] * 0.35; dy[i] -= y[i] * 0.55;
    }
    for (const [a, b] of links) {
      const ex = x[a] - x[b], ey = y[a] - y[b];
      const pull = (0.4 * Math.hypot(ex, ey)) / wanted;
      dx[a] -= ex * pull; dy[a] -= ey * pull;
      dx[b] += ex * pull; dy[b] += ey * pull;
    }
    const step = wanted * (1 - round / rounds) * 0.5;
    for (let i = 0; i < count; i++) {
      const length = Math.max(Math.hypot(dx[i], dy[i]), 0.001);
      x[i] += (dx[i] / length) * Math.min(length, step);
      y[i] += (dy[i] / length) * Math.min(length, step);
    }
  }
  const scale = (values, from, to) => {
    const low = Math.min(...values), high = Math.max(...values);
    return Array.from(values, (value) => (high > low ? from + ((value - low) / (high - low)) * (to - from) : (from + to) / 2));
  };
  const xs = scale(x, 40, kWidth - 150), ys = scale(y, 35, kHeight - 35);
  return xs.map((value, i) => ({ x: Math.round(value * 10) / 10, y: Math.round(ys[i] * 10) / 10 }));
}

function nodeMark(node, place, ties, choose) {
  const label = `${node.type} ${node.name}, ${counted(ties, 'relation')}` + (node.valid_to ? ', replaced' : '');
  const mark = s('g', { class: 'node', tabindex: 0, role: 'button', 'aria-label': label, transform: `translate(${place.x} ${place.y})` },
    s('circle', { r: 10 + Math.min(ties, 8), class: node.type + (node.valid_to ? ' replaced' : '') }),
    s('text', { class: 'in', dy: 5 }, node.type[0].toUpperCase()),
    s('text', { x: 14 + Math.min(ties, 8), dy: 5 }, shorten(node.name, 20)));
  mark.addEventListener('click', choose);
  mark.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    choose();
  });
  return mark;
}

function draw(nodes, edges, choose) {
  const index = new Map(nodes.map((node, i) => [id(node.type, node.key), i]));
  const links = edges.map((edge) => [index.get(id(edge.from_type, edge.from)), index.get(id(edge.to_type, edge.to))]);
  const places = layout(nodes.length, links);
  const ties = nodes.map((_, i) => links.filter(([a, b]) => a === i || b === i).length);
  const lines = edges.map((edge, i) => {
    const [a, b] = links[i].map((at) => places[at]);
    return s('g', {}, s('line', { x1: a.x, y1: a.y, x2: b.x, y2: b.y, 'marker-end': 'url(#arrow)' }),
      s('title', {}, `${edge.from} ${edge.type} ${edge.to}`));
  });
  const names = s('g', { 'aria-hidden': 'true' });
  const marks = nodes.map((node, i) => nodeMark(node, places[i], ties[i], () => {
    light(i);
    choose(node);
  }));
  const light = (chosen) => {
    names.replaceChildren();
    const near = new Set([chosen]);
    edges.forEach((edge, i) => {
      const [a, b] = links[i];
      const lit = a === chosen || b === chosen;
      lines[i].firstChild.setAttribute('class', lit ? 'lit' : '');
      if (!lit) return;
      near.add(a).add(b);
      names.append(s('text', { class: 'edge', x: (places[a].x + places[b].x) / 2, y: (places[a].y + places[b].y) / 2 - 4 }, edge.type));
    });
    marks.forEach((mark, i) => mark.classList.toggle('away', !near.has(i)));
  };
  const picture = s('svg', { class: 'graph', viewBox: `0 0 ${kWidth} ${kHeight}`, role: 'group', 'aria-label': `Graph of ${counted(nodes.length, 'thing')} and ${counted(edges.length, 'relation')}` },
    s('defs', {}, s('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 18, refY: 4, markerWidth: 6, markerHeight: 6, orient: 'auto' },
      s('path', { d: 'M0 0 L8 4 L0 8 z', fill: 'currentColor', opacity: 0.5 }))),
    lines, names, marks);
  return { picture, light: (node) => light(index.get(id(node.type, node.key))) };
}

function zoomed(picture) {
  let zoom = 1;
  const set = (next) => {
    zoom = Math.min(4, Math.max(1, next));
    const width = kWidth / zoom, height = kHeight / zoom;
    picture.setAttribute('viewBox', `${(kWidth - width) / 2} ${(kHeight - height) / 2} ${width} ${height}`);
  };
  return [h('button', { type: 'button', 'aria-label': 'Larger', onclick: () => set(zoom * 1.4) }, '+'),
    h('button', { type: 'button', 'aria-label': 'Smaller', onclick: () => set(zoom / 1.4) }, '−')];
}

async function nodeDetail(box, node) {
  put(box, h('p', { class: 'soft' }, 'Loading …'));
  const found = await ask('graph', { action: 'node', name: node.name, nodeType: node.type });
  const sections = new Map();
  for (const line of found.details?.lines ?? []) {
    if (!sections.has(line.section)) sections.set(line.section, []);
    sections.get(line.section).push(line);
  }
  put(box, h('h2', { tabindex: -1 }, node.name),
    h('p', {}, badge(node.type), node.status ? badge(node.status) : null, node.valid_to ? badge('replaced', 'warning') : null,
      h('span', { class: 'soft' }, `${percent(node.effective_confidence)} sure by now, confirmed ${day(node.last_confirmed)}`)),
    [...sections].map(([title, lines]) => [h('h3', {}, title),
      h('ul', { class: 'trail' }, lines.map((line) => h('li', {}, line.text, line.message ? h('p', { class: 'soft' }, `message ${line.message}, ${line.date}`) : null)))]));
}

export async function graph(main, rest, signal) {
  const found = await ask('world', { limit: 150 }, signal);
  const detail = h('section', { class: 'card', 'aria-label': 'Thing', 'aria-live': 'polite' }, h('p', { class: 'soft' }, 'Choose a thing in the drawing or in the table.'));
  const drawing = h('div', {}), list = h('div', {});
  let type = '', wanted = '';
  const choose = (node) => nodeDetail(detail, node).catch((error) => put(detail, h('p', {}, error.message)));
  const show = () => {
    const nodes = found.nodes.filter((node) => (!type || node.type === type) && node.name.toLowerCase().includes(wanted.toLowerCase()));
    const known = new Set(nodes.map((node) => id(node.type, node.key)));
    const edges = found.edges.filter((edge) => known.has(id(edge.from_type, edge.from)) && known.has(id(edge.to_type, edge.to)));
    const { picture, light } = draw(nodes, edges, choose);
    put(drawing, nodes.length ? picture : h('p', { class: 'soft' }, 'Nothing of that kind is known.'), ...zoomed(picture));
    put(list, table('The same as a table', [
      { name: 'Thing', cell: (node) => h('button', { type: 'button', class: 'link', onclick: () => { light(node); choose(node); } }, node.name) },
      { name: 'Type', short: true, cell: (node) => node.type },
      { name: 'Status', cell: (node) => (node.valid_to ? 'replaced' : node.status) },
      { name: 'Sure', number: true, cell: (node) => percent(node.effective_confidence) },
      { name: 'Relations', cell: (node) => edges.filter((edge) => edge.from === node.key && edge.from_type === node.type).map((edge) => `${edge.type} ${edge.to}`).join(', ') },
      { name: 'Confirmed', short: true, cell: (node) => day(node.last_confirmed) },
    ], nodes));
  };
  show();
  put(main, heading('Graph', 'Things that people spoke of and how they hang together. A letter and a colour name the type; dashed: replaced since.'),
    h('div', { class: 'controls' }, search('Filter', '', (text) => { wanted = text; show(); }),
      field('Type', choice([['', 'all'], ...kTypes.map((name) => [name, name])], '', (value) => { type = value; show(); })),
      found.cut ? h('p', { class: 'soft' }, 'Only the newest 150 are drawn.') : null),
    h('div', { class: 'split' }, h('div', {}, drawing, list), detail));
}

const kEpisodes = ['decision', 'plan_change', 'blocker', 'breakthrough', 'completion', 'error'];

export async function episodes(main, rest, signal) {
  const list = h('div', {});
  let type = '', least = 0;
  const show = async () => {
    const found = await ask('episodes', { action: 'list', limit: 100, minSalience: least, ...(type ? { eventType: type } : {}) }, signal);
    const rows = found.details?.episodes ?? [];
    put(list, h('p', { class: 'soft', role: 'status' }, counted(rows.length, 'episode')), ...rows.map((row) =>
      h('article', { class: 'card' }, h('h3', {}, row.title),
        h('p', {}, badge(row.type.replace('_', ' '), row.type === 'blocker' || row.type === 'error' ? 'bad' : row.type === 'breakthrough' || row.type === 'completion' ? 'ok' : ''),
          h('span', { class: 'soft' }, `${row.date} · salience ${percent(row.salience)}`)),
        row.description && row.description !== row.title ? h('p', {}, row.description) : null,
        row.message ? explained(String(row.message)) : null)));
  };
  await show();
  put(main, heading('Episodes', 'What happened and matters, the newest first.'),
    h('div', { class: 'controls' },
      field('Type', choice([['', 'all'], ...kEpisodes.map((name) => [name, name.replace('_', ' ')])], '', act((value) => { type = value; return show(); }))),
      field('Salience from', h('input', { type: 'range', min: 0, max: 90, step: 10, value: 0, onchange: act((event) => { least = event.target.value / 100; return show(); }) }))),
    list);
}
