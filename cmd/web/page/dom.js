// Elements, questions to the memory, and what all views share. What is stored is only ever text: nothing
// here makes markup of a string, and the page's policy (Trusted Types) would refuse it.

const kSvg = 'http://www.w3.org/2000/svg';
let token = sessionStorage.getItem('clawmark-token') ?? '';
let zone = 'UTC';

export function setToken(value) {
  token = value;
  sessionStorage.setItem('clawmark-token', value);
}
export function setZone(value) {
  zone = value || 'UTC';
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...shown(children));
  return element;
}
const shown = (children) => children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false);
// These in place of what an element held.
export function put(element, ...children) {
  element.replaceChildren(...shown(children));
}
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(kSvg, tag), attributes, children);
}

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function send(path, options) {
  const response = await fetch('/api/' + path, {
    ...options,
    headers: { ...(options.headers ?? {}), authorization: 'Bearer ' + token },
    cache: 'no-store', credentials: 'omit', redirect: 'error',
  }).catch((error) => {
    if (error.name === 'AbortError') throw error;
    throw new Refused(0, '`clawmark web` does not answer any more; start it again');
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, answer.error?.message ?? 'it answered ' + response.status);
  return answer;
}
// The answer of an operator's command; one that was refused by a rule is an error, too.
export async function ask(command, params = {}, signal = undefined) {
  const answer = await send(command, {
    method: 'POST', signal, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ params }),
  });
  if (answer.ok === false) throw new Refused(200, answer.text);
  return answer;
}
export const status = (signal) => send('status', { method: 'GET', signal });

export function when(iso) {
  const time = new Date(iso ?? NaN);
  if (Number.isNaN(time.getTime())) return '';
  return new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit',
  }).format(time);
}
export const day = (iso) => when(iso).slice(0, 10);
export const number = (value) => new Intl.NumberFormat('en').format(value ?? 0);
export const percent = (value) => Math.round((value ?? 0) * 100) + '%';
export const counted = (count, one, many = one + 's') => `${number(count)} ${count === 1 ? one : many}`;
export const shorten = (text, most) => ([...text].length > most ? [...text].slice(0, most - 1).join('') + '…' : text);

// Whose it is, without what all have in common; whole as its title.
export function holder(name) {
  return h('span', { title: name }, name.replace(/^(group|session):agent:[^:]+:/, '').replace(/^person:/, ''));
}

export function toast(text) {
  document.getElementById('toast').textContent = text;
}

// For what somebody does: what goes wrong is said.
export const act = (work) => async (...given) => {
  try {
    await work(...given);
  } catch (error) {
    if (error.name !== 'AbortError') toast(error.message);
  }
};

export function heading(text, note) {
  return h('div', {}, h('h2', { tabindex: -1 }, text), note ? h('p', { class: 'soft' }, note) : null);
}
export function failure(error) {
  return h('div', { class: 'card error', role: 'alert' }, h('h3', {}, 'This could not be shown'), h('p', {}, error.message));
}
export const badge = (text, kind = '') => h('span', { class: 'badge ' + kind }, text);
export function sureness(value) {
  return h('span', {}, h('meter', { min: 0, max: 1, value, 'aria-hidden': 'true' }), ' ', percent(value));
}
export function quote(text) {
  return text ? h('blockquote', {}, '“' + text + '”') : null;
}

// columns: [{ name, number?, short?, cell(row) }]; a cell is text or an element.
export function table(caption, columns, rows, rowAttributes = () => ({})) {
  if (rows.length === 0) return h('p', { class: 'soft' }, 'None.');
  return h('table', {}, h('caption', {}, caption),
    h('thead', {}, h('tr', {}, columns.map((c) => h('th', { scope: 'col', class: c.number ? 'number' : null }, c.name)))),
    h('tbody', {}, rows.map((row) => h('tr', rowAttributes(row),
      columns.map((c) => h('td', { 'data-label': c.name, class: c.number ? 'number' : c.short ? 'short' : null }, h('span', {}, c.cell(row))))))));
}
export function field(label, control) {
  control.id ||= 'f-' + label.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  return h('div', { class: 'field' }, h('label', { for: control.id }, label), control);
}
export function choice(options, value, change) {
  return h('select', { onchange: (event) => change(event.target.value) },
    options.map(([id, name]) => h('option', { value: id, selected: id === value }, name)));
}
// Where a list may be narrowed down; '/' leads there.
export function search(label, value, change) {
  return field(label, h('input', { type: 'search', value, 'data-filter': true, autocomplete: 'off', oninput: (event) => change(event.target.value) }));
}

// Asks before something is done; what it is stands in the title, and the first button is the harmless one.
export function confirmed({ title, body, action, danger = true }) {
  const dialog = document.getElementById('dialog');
  return new Promise((resolve) => {
    const close = (answer) => {
      dialog.onclose = null;
      dialog.close();
      dialog.replaceChildren();
      resolve(answer);
    };
    put(dialog, 
      h('h2', { id: 'dialog-title' }, title), h('div', {}, body),
      h('div', { class: 'actions' },
        h('button', { type: 'button', autofocus: true, onclick: () => close(false) }, 'Cancel'),
        h('button', { type: 'button', class: danger ? 'danger' : 'primary', onclick: () => close(true) }, action)));
    dialog.onclose = () => close(false);
    dialog.showModal();
  });
}

// Shows what would go, and forgets exactly that once a person has said so. Gives whether it was done.
export async function forget(name, params) {
  const preview = await ask('forget', { ...params, preview: true });
  const details = preview.details ?? {};
  if (!details.confirm) {
    toast(preview.text);
    return false;
  }
  const list = (title, rows, text) => (rows?.length ? [h('h3', {}, title), h('ul', {}, rows.map((row) => h('li', {}, text(row))))] : []);
  const said = (row) => `${row.date}, ${row.speaker || row.role}: “${row.excerpt}”`;
  const sure = await confirmed({
    title: `Forget ${name}?`, action: 'Forget for good',
    body: [
      h('p', {}, 'It goes from prompts, search and every projection, and stays gone. There is no way back.'),
      ...list('Facts', details.facts, (fact) => `${fact.key}: ${fact.value} (${fact.holder})`),
      ...list('Messages', details.messages, said),
      ...list('No longer recalled, as it came from there', details.sources, said),
      details.copies > 0 ? h('p', { class: 'warning' }, counted(details.copies, 'other message says', 'other messages say') + ' exactly the same and would stay.') : null,
    ],
  });
  if (!sure) {
    toast('Nothing was changed.');
    return false;
  }
  const done = await ask('forget', { ...params, confirm: details.confirm });
  toast(done.text);
  return true;
}

// "Explain": from a line down to its messages, asked for when it is opened.
export function explained(line, label = 'Where this comes from') {
  const box = h('details', {}, h('summary', {}, label));
  box.addEventListener('toggle', async () => {
    if (!box.open || box.childElementCount > 1) return;
    const place = h('div', {}, h('p', { class: 'soft' }, 'Looking …'));
    box.append(place);
    try {
      const found = await ask('explain', { line });
      put(place, h('ul', { class: 'trail' }, (found.details?.lines ?? []).map((text) => h('li', {}, text.trim()))));
    } catch (error) {
      put(place, h('p', { class: 'soft' }, error.message));
    }
  });
  return box;
}
