// Where one is: the address behind '#' names the view; the token is taken from it once and kept for
// this tab alone.

import { h, put, status, setToken, setZone, failure, counted, toast, field } from './dom.js';
import { timeline, facts, audit } from './memory.js';
import { graph, episodes } from './world.js';
import { recall } from './recall.js';
import { health } from './health.js';

const views = [
  { id: 'timeline', name: 'Timeline', show: timeline },
  { id: 'facts', name: 'Facts', show: facts },
  { id: 'graph', name: 'Graph', show: graph },
  { id: 'episodes', name: 'Episodes', show: episodes },
  { id: 'recall', name: 'Recall', show: recall },
  { id: 'audit', name: 'Audit', show: audit },
  { id: 'health', name: 'Health & cost', show: health },
];
const main = document.getElementById('main');
const tabs = document.getElementById('tabs');
let leaving = new AbortController();

function takeToken() {
  const found = /^#token=([0-9A-Za-z-]+)$/.exec(location.hash);
  if (!found) return;
  setToken(found[1]);
  history.replaceState(null, '', '#/timeline');
}

function askForToken() {
  main.removeAttribute('aria-busy');
  const input = h('input', { type: 'password', autocomplete: 'off', required: true });
  put(main, h('form', { class: 'card', onsubmit: (event) => {
    event.preventDefault();
    setToken(input.value.trim().replace(/^.*token=/, ''));
    route(false);
  } }, h('h2', { tabindex: -1 }, 'Token'),
  h('p', {}, 'This page needs the token that `clawmark web` printed: open the address that it printed, or paste it here.'),
  h('div', { class: 'controls' }, field('Token', input), h('button', { class: 'primary' }, 'Open'))));
  input.focus();
}

function place() {
  const [, id = '', ...rest] = location.hash.split('/');
  const view = views.find((one) => one.id === id) ?? views[0];
  return { view, rest: rest.map((part) => decodeURIComponent(part)) };
}

async function showHealth() {
  const bar = document.getElementById('health');
  try {
    const now = await status();
    setZone(now.timezone);
    const word = { ok: '● OK', warning: '▲ Warning', red: '▲ Red' }[now.health] ?? now.health;
    bar.className = 'health ' + ({ ok: 'ok', warning: 'warning', red: 'bad' }[now.health] ?? '');
    bar.textContent = [word, now.warnings?.[0]?.code, counted(now.counts?.messages ?? 0, 'message'), counted(now.counts?.facts ?? 0, 'fact')]
      .filter(Boolean).join(' · ');
    return true;
  } catch (error) {
    bar.className = 'health bad';
    bar.textContent = '▲ ' + error.message;
    return error.status !== 401;
  }
}

async function route(moved) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const { view, rest } = place();
  document.title = view.name + ' · Clawmark';
  delete main.dataset.shown;
  main.setAttribute('aria-busy', 'true');
  for (const link of tabs.querySelectorAll('a')) {
    if (link.dataset.view === view.id) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (!(await showHealth())) return askForToken();
  if (signal.aborted) return undefined;
  const box = h('div', {}, h('p', { class: 'soft' }, 'Loading …'));
  put(main, box);
  try {
    await view.show(box, rest, signal);
  } catch (error) {
    if (error.name === 'AbortError' || signal.aborted) return undefined;
    put(box, h('h2', { tabindex: -1 }, view.name), failure(error));
  }
  if (signal.aborted) return undefined;
  main.removeAttribute('aria-busy');
  main.dataset.shown = location.hash;
  if (moved) (main.querySelector('[data-focus]') ?? main.querySelector('h2'))?.focus();
  return undefined;
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  const name = { '': 'system', light: 'light', dark: 'dark' }[theme];
  document.getElementById('theme').textContent = 'Theme: ' + name;
}
function nextTheme() {
  const now = localStorage.getItem('clawmark-theme') ?? '';
  const next = { '': 'dark', dark: 'light', light: '' }[now];
  localStorage.setItem('clawmark-theme', next);
  setTheme(next);
}

function onKey(event) {
  const typing = event.target.closest('input, textarea, select, dialog');
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key >= '1' && event.key <= String(views.length)) {
    location.hash = '#/' + views[Number(event.key) - 1].id;
  } else if (event.key === '/') {
    const filter = main.querySelector('[data-filter]');
    if (!filter) return;
    filter.focus();
    event.preventDefault();
  } else if (event.key === '?') {
    toast('Keys: 1–7 views · / filter · Tab and Enter for everything else · Esc closes a question');
  }
}

for (const view of views) {
  tabs.append(h('li', {}, h('a', { href: '#/' + view.id, 'data-view': view.id }, view.name)));
}
document.getElementById('theme').addEventListener('click', nextTheme);
document.getElementById('skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
document.addEventListener('keydown', onKey);
setTheme(localStorage.getItem('clawmark-theme') ?? '');
takeToken();
addEventListener('hashchange', () => {
  toast('');
  takeToken();
  route(true);
});
route(false);
