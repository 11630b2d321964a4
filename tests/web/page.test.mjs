// Each view of the page as a person meets it, in a real browser.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { Browser } from './browser.mjs';
import { World, kHostile } from './world.mjs';

const shots = fileURLToPath(new URL('../../build/web/', import.meta.url));
const kViews = ['timeline', 'facts', 'graph', 'episodes', 'recall', 'audit', 'health'];
let world, web, browser, page;

const idle = `document.getElementById('main').dataset.shown === location.hash`;

async function open(view, title = undefined) {
  await page.run(`location.hash = '#/${view}'`);
  await page.until(idle + (title ? ` && document.title === ${JSON.stringify(title + ' · Clawmark')}` : ''), 'the view ' + view);
}
const click = (selector, words) => page.run(`(() => {
  const found = [...document.querySelectorAll(${JSON.stringify(selector)})].find((one) => one.textContent.includes(${JSON.stringify(words)}));
  if (!found) throw new Error('no ' + ${JSON.stringify(selector + ' with ' + words)});
  found.click();
})()`);
const has = (text) => page.until(`document.body.innerText.includes(${JSON.stringify(text)})`, 'the text ' + text);

before(async () => {
  mkdirSync(shots, { recursive: true });
  world = new World();
  await world.startDaemon();
  for (const [key, value] of [['user.hostile', kHostile], ['pref.editor', 'helix'], ['user.city', 'Łódź 劇場 🎭']]) {
    world.run('clawmark', 'set', key, value);
  }
  world.run('clawmark', 'set', 'pref.editor', 'vim');
  world.run('clawmark', 'reconcile');
  web = await world.startPage();
  browser = await Browser.start(process.env.CLAWMARK_CHROMIUM);
  page = await browser.page();
  await page.size(1280, 900);
  await page.scheme('light');
  await page.go(web.url);
  await page.until(idle, 'the first view');
});
after(async () => {
  await browser?.stop();
  await web?.stop();
  await world?.stop();
});

test('the address that was printed opens the page, and the token is gone from it at once', async () => {
  const address = await page.run('location.href');
  assert.equal(address, web.origin + '/#/timeline');
  assert.equal(await page.run('document.cookie'), '');
  assert.equal(await page.run(`JSON.stringify(history.state) + history.length`).then((text) => text.includes(web.token)), false);
  assert.match(await page.run(`document.getElementById('health').textContent`), /(OK|Warning).*104 messages/);
});

test('timeline: days with what was said and what happened', async () => {
  await open('timeline', 'Timeline');
  await has('91 messages, the newest day first');
  await has('plan change: use Mollie instead of Stripe');
  await page.run(`[...document.querySelectorAll('details.day')].find((one) => one.innerText.includes('2026-11-09')).open = true`);
  await has('the fees are lower and the account exists');
  await click('summary', 'What was understood of it');
  await page.until(`document.querySelector('.message .trail li') !== null`, 'what was understood');
  await page.shot(join(shots, 'timeline.png'));
});

test('facts: values over time with their evidence', async () => {
  await open('facts', 'Facts');
  await has('decided on Mollie instead of Stripe');
  await open('facts/pref.editor');
  await page.until(`document.querySelector('h2[data-focus]')?.textContent === 'pref.editor'`);
  await page.until(`document.activeElement?.textContent === 'pref.editor'`, 'the focus on the fact');
  const values = await page.run(`[...document.querySelectorAll('section .trail')][0].innerText`);
  assert.match(values, /vim[^]*in force[^]*helix[^]*until/);
  await open('facts/project.mollie');
  await has('“We decided to use Mollie instead of Stripe, because the fees are lower and the account exists.”');
  await has('learnt: decided on Mollie instead of Stripe');
  await page.shot(join(shots, 'facts.png'));
});

test('facts: the filter and the choice narrow the table', async () => {
  await open('facts', 'Facts');
  await page.run(`(() => { const box = document.querySelector('[data-filter]'); box.value = 'łódź'; box.dispatchEvent(new Event('input')); })()`);
  assert.equal(await page.run(`document.querySelectorAll('tbody tr').length`), 1);
  await has('Łódź 劇場 🎭');
});

test('graph: drawn the same way each time, with relations and evidence of what is chosen', async () => {
  await open('graph', 'Graph');
  const places = `[...document.querySelectorAll('g.node')].map((one) => one.getAttribute('transform')).join()`;
  const first = await page.run(places);
  assert.ok(first.split('translate').length > 25, first);
  await page.run(`[...document.querySelectorAll('g.node')].find((one) => one.getAttribute('aria-label').includes('use Mollie')).dispatchEvent(new MouseEvent('click'))`);
  await has('What was said of it');
  await has('AFFECTS Mollie');
  await page.shot(join(shots, 'graph.png'));
  await open('episodes', 'Episodes');
  await open('graph', 'Graph');
  assert.equal(await page.run(places), first);
  const inside = await page.run(`[...document.querySelectorAll('g.node')].every((one) => { const [x, y] = one.getAttribute('transform').match(/-?[0-9.]+/g).map(Number); return x > 0 && x < 860 && y > 0 && y < 620; })`);
  assert.ok(inside);
});

test('episodes: by type and salience, each with where it comes from', async () => {
  await open('episodes', 'Episodes');
  await has('Blocked: E-SEAT-409');
  await page.run(`(() => { const box = document.querySelector('select'); box.value = 'blocker'; box.dispatchEvent(new Event('change')); })()`);
  await page.until(`document.querySelectorAll('article').length === 1`, 'only the blocker');
  await click('summary', 'Where this comes from');
  await has('session 3dbd924b');
  await page.shot(join(shots, 'episodes.png'));
});

test('recall: what a prompt would get in a conversation, and why', async () => {
  await open('recall', 'Recall');
  await page.run(`(() => {
    document.querySelector('textarea').value = 'Which payment provider did we settle on?';
    document.querySelector('select').value = 'agent:main:telegram:group:-1007001';
    document.querySelector('form').requestSubmit();
  })()`);
  await has('Looked for “Which payment provider did we settle on?”');
  await has('Concluded, 85% sure by now; for group:agent:main:telegram:group:-1007001');
  await page.until(`/Measured 0\\.\\d\\d; 0\\.35 is enough/.test(document.body.innerText)`, 'the measure of a hit');
  assert.ok(await page.run(`document.querySelectorAll('mark').length`) > 0);
  await page.shot(join(shots, 'recall.png'));
});

test('audit: decisions about facts, and the log itself', async () => {
  await open('audit', 'Audit');
  await has('pref.editor');
  await page.run(`(() => { const box = document.querySelectorAll('select')[1]; box.value = 'update'; box.dispatchEvent(new Event('change')); })()`);
  await page.until(`document.querySelectorAll('tbody tr').length === 1 && document.querySelector('tbody').innerText.includes('helix')`, 'the one change');
  await open('audit/events', 'Audit');
  await has('fact.stated');
  await page.shot(join(shots, 'audit.png'));
});

test('health and cost: warnings with remedies, sources, workers', async () => {
  await open('health', 'Health & cost');
  await has('agent-db');
  await has('project.search');
  await has('the built-in ones cost nothing');
  await page.shot(join(shots, 'health.png'));
});

test('what was set aside is tried again by name, and what it cost is drawn', async () => {
  const aside = { event: 77, worker: 'extract', message: 9, reason: 'poison', detail: kHostile, attempts: 3, parked_at: '2026-11-19T10:00:00.000Z', retry: false };
  page.stubs.set('/api/parked_list', { parked: [aside, { ...aside, event: 78, retry: true }] });
  page.stubs.set('/api/parked_retry', { ok: true, retried: 1 });
  page.stubs.set('/api/spend', { since: '2026-11-01', spend: [
    { day: '2026-11-18', worker: 'extract', model: 'm', calls: 2, input_tokens: 9000, output_tokens: 100, usd: 0.02 },
    { day: '2026-11-19', worker: 'graph', model: 'm', calls: 1, input_tokens: 4000, output_tokens: 90, usd: 0.01 }] });
  await page.send('Fetch.enable', { patterns: [{ urlPattern: '*/api/*' }] });
  await open('episodes', 'Episodes');
  await open('health', 'Health & cost');
  assert.equal(await page.run(`document.querySelectorAll('.bars rect').length`), 2);
  await has('0.0200');
  await has('is tried again');
  await page.run(`document.querySelector('[aria-label="Try event 77 again"]').click()`);
  await page.until(`document.getElementById('dialog').open`);
  assert.match(await page.run(`document.getElementById('dialog').innerText`), /Try event 77 again\?[^]*extract, message 9[^]*<img src=x/);
  page.stubbed = [];
  page.stubs.set('/api/parked_list', { parked: [] });
  await click('dialog button', 'Try again');
  await has('1 to be tried again.');
  assert.deepEqual(JSON.parse(page.stubbed[0]), { params: { event: 77 } });
  assert.equal(await page.run(`document.querySelector('[aria-label="Try event 77 again"]')`), null);
  await page.send('Fetch.disable');
  page.stubs.clear();
});

test('hostile text is only ever text', async () => {
  for (const view of [...kViews, 'facts/user.hostile', 'audit/events', `recall/${encodeURIComponent(kHostile)}`, `facts/${encodeURIComponent(kHostile)}`]) {
    await open(view);
  }
  await open('facts/user.hostile');
  await has(kHostile);
  await open('timeline');
  await page.run(`for (const one of document.querySelectorAll('details.day')) one.open = true`);
  await has(`Mind ${kHostile} at the door list.`);
  await open('graph');
  await page.run(`(() => { const box = document.querySelector('[data-filter]'); box.value = 'barbox'; box.dispatchEvent(new Event('input')); })()`);
  await page.until(`document.querySelectorAll('g.node').length > 0`, 'the hostile thing in the graph');
  assert.equal(await page.run('window.hurt'), undefined);
  assert.equal(await page.run(`document.querySelectorAll('img, iframe, main script').length`), 0);
  assert.equal(await page.run(`(() => { try { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); return 'made'; } catch { return 'refused'; } })()`), 'refused');
});

test('by the keyboard alone: to a view, to the filter, to a fact, through a question and back', async () => {
  await page.run('document.activeElement.blur()');
  await open('timeline', 'Timeline');
  await page.press('2');
  await page.until(`document.title.startsWith('Facts') && ${idle}`);
  await page.press('/');
  await page.until(`document.activeElement.matches('[data-filter]')`);
  await page.type('editor');
  await page.until(`document.querySelectorAll('tbody tr').length === 1`);
  await page.press('Tab');
  await page.press('Tab');
  await page.until(`document.activeElement.textContent === 'pref.editor'`, 'the link by Tab');
  await page.press('Enter');
  await page.until(`document.querySelector('h2[data-focus]') !== null && document.activeElement.matches('h2')`);
  for (let i = 0; i < 10 && !(await page.run(`document.activeElement.textContent.startsWith('Forget')`)); i++) await page.press('Tab');
  await page.press('Enter');
  await page.until(`document.getElementById('dialog').open`);
  assert.equal(await page.run('document.activeElement.textContent'), 'Cancel');
  await page.press('Escape');
  await page.until(`!document.getElementById('dialog').open`);
  await has('Nothing was changed.');
  assert.ok(world.ask('facts').facts.some((fact) => fact.key === 'pref.editor'));
});

test('forgetting names what goes, and does it only when it was confirmed', async () => {
  await open('facts/pref.editor');
  await page.until(`document.querySelector('h2[data-focus]') !== null`);
  await click('button', 'Forget …');
  await page.until(`document.getElementById('dialog').open`);
  const asked = await page.run(`document.getElementById('dialog').innerText`);
  assert.match(asked, /Forget pref\.editor\?/);
  assert.match(asked, /pref\.editor: vim/);
  await page.shot(join(shots, 'forget.png'));
  await click('dialog button', 'Cancel');
  await has('Nothing was changed.');
  assert.ok(world.ask('facts').facts.some((fact) => fact.key === 'pref.editor'));
  await click('button', 'Forget …');
  await page.until(`document.getElementById('dialog').open`);
  await click('dialog button', 'Forget for good');
  await has('Forgot pref.editor.');
  assert.ok(!world.ask('facts').facts.some((fact) => fact.key === 'pref.editor'));
});

test('what goes wrong is said', async () => {
  await page.send('Fetch.enable', { patterns: [{ urlPattern: '*/api/forget' }] });
  page.stubs.set('/api/forget', { ok: false, text: 'Only the owner may do that.' });
  await open('facts/project.mollie');
  await click('button', 'Forget …');
  await has('Only the owner may do that.');
  page.stubs.clear();
  await page.send('Fetch.disable');
});

test('dark and light can both be read', async () => {
  const worst = `(() => {
    const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const channels = (color) => { pixel.clearRect(0, 0, 1, 1); pixel.fillStyle = color; pixel.fillRect(0, 0, 1, 1); return [...pixel.getImageData(0, 0, 1, 1).data]; };
    const light = ([r, g, b]) => [r, g, b].map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = (one) => { for (let at = one; at; at = at.parentElement) { const color = channels(getComputedStyle(at).backgroundColor); if (color[3] === 255) return color; } return [255, 255, 255]; };
    let low = { ratio: 99 };
    for (const one of document.querySelectorAll('main *, header *')) {
      const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!own || !one.checkVisibility() || one.closest('svg, button:disabled, .hidden')) continue;
      const [a, b] = [light(channels(getComputedStyle(one).color)), light(ground(one))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < low.ratio) low = { ratio, text: one.textContent.slice(0, 40), tag: one.tagName, name: one.className };
    }
    return low;
  })()`;
  const grounds = [];
  for (const scheme of ['light', 'dark']) {
    await page.scheme(scheme);
    for (const view of kViews) {
      await open(view);
      const low = await page.run(worst);
      assert.ok(low.ratio >= 4.5, `${scheme}, ${view}: ${JSON.stringify(low)}`);
    }
    grounds.push(await page.run('getComputedStyle(document.body).backgroundColor'));
    await open('graph');
    await page.shot(join(shots, `graph-${scheme}.png`));
  }
  assert.notEqual(grounds[0], grounds[1]);
  await page.scheme('light');
  await page.run(`document.getElementById('theme').click()`);
  assert.equal(await page.run('getComputedStyle(document.body).backgroundColor'), grounds[1], 'the button says dark');
  await page.run(`document.getElementById('theme').click(); document.getElementById('theme').click()`);
});

test('nothing sticks out on a phone', async () => {
  await page.size(360, 740, true);
  for (const view of [...kViews, 'facts/project.mollie']) {
    await open(view);
    const wide = await page.run('document.documentElement.scrollWidth');
    assert.ok(wide <= 360, `${view} is ${wide} wide`);
    await page.shot(join(shots, `phone-${view.replace('/', '-')}.png`));
  }
  await page.size(1280, 900);
});

test('whatever can be used has a name', async () => {
  const used = new Set(['button', 'link', 'textbox', 'searchbox', 'combobox', 'slider', 'dialog', 'navigation', 'DisclosureTriangle']);
  for (const view of [...kViews, 'facts/project.mollie']) {
    await open(view);
    const nameless = (await page.spoken()).filter((one) => used.has(one.role) && one.name.trim() === '');
    assert.deepEqual(nameless, [], view);
    assert.equal(await page.run(`document.querySelectorAll('main h2').length > 0 && document.querySelectorAll('h1').length === 1`), true);
  }
});

test('a page without the token asks for it and shows nothing', async () => {
  const other = await browser.page();
  await other.go(web.origin + '/');
  await other.until(`document.querySelector('input[type=password]') !== null`);
  assert.doesNotMatch(await other.text(), /Mollie|Mira/);
  await other.run(`(() => { document.querySelector('input').value = ${JSON.stringify(web.token)}; document.querySelector('form').requestSubmit(); })()`);
  await other.until(`document.body.innerText.includes('messages, the newest day first')`);
});

test('nothing was asked of anybody else, no address held the token, nothing was complained of', () => {
  const own = (url) => url.startsWith(web.origin + '/') || url.startsWith('data:');
  assert.deepEqual(page.requests.map((one) => one.url).filter((url) => !own(url)), []);
  assert.deepEqual(page.requests.filter((one) => one.url.includes(web.token)), []);
  assert.ok(page.requests.length > 50);
  const expected = (text) => /TrustedHTML|Trusted Type|trusted-types/i.test(text); // the attempt of a test above
  assert.deepEqual(page.complaints.filter((text) => !expected(text)), []);
});
