// The page's walls, by requests that a browser of somebody else might be made to send.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { World, request, stopped } from './world.mjs';

let world, web;
const json = { 'content-type': 'application/json' };
const own = () => ({ ...json, authorization: 'Bearer ' + web.token });
const call = (path, options) => request(web.origin, path, options);
const post = (command, params, headers = own()) => call('/api/' + command, { method: 'POST', headers, body: JSON.stringify({ params }) });

before(async () => {
  world = new World();
  web = await world.startPage();
});
after(async () => {
  await web?.stop();
  await world?.stop();
});

test('nothing of the memory without the token', async () => {
  assert.equal((await post('facts', {})).status, 200);
  for (const headers of [json, { ...json, authorization: 'Bearer ' }, { ...json, authorization: 'Bearer ' + web.token.slice(0, -1) + '0x' },
    { ...json, authorization: web.token }, { ...json, cookie: 'token=' + web.token }]) {
    assert.equal((await post('facts', {}, headers)).status, 401);
  }
  assert.equal((await call('/api/facts?token=' + web.token, { method: 'POST', headers: json, body: '{}' })).status, 401);
  assert.equal((await call('/api/status')).status, 401);
});

test('a name that was made to point here is not served (DNS rebinding)', async () => {
  const port = new URL(web.origin).port;
  for (const host of ['evil.example', 'evil.example:' + port, '127.0.0.1.evil.example:' + port, '127.0.0.1', 'localhost:1', '127.0.0.1:' + port + '0', '[::2]:' + port]) {
    assert.equal((await call('/', { headers: { host } })).status, 421, host);
    assert.equal((await post('facts', {}, { ...own(), host })).status, 421, host);
  }
  assert.equal((await post('facts', {}, { ...own(), host: 'localhost:' + port })).status, 200);
});

test('a page of somebody else gets nothing, even with the token', async () => {
  for (const origin of ['http://evil.example', 'null', 'http://127.0.0.1:1', web.origin + '.evil.example', web.origin.replace('http', 'https')]) {
    assert.equal((await post('facts', {}, { ...own(), origin })).status, 403, origin);
  }
  for (const site of ['cross-site', 'same-site']) {
    assert.equal((await post('facts', {}, { ...own(), 'sec-fetch-site': site })).status, 403);
    assert.equal((await call('/app.js', { headers: { 'sec-fetch-site': site } })).status, 403);
  }
  assert.equal((await post('facts', {}, { ...own(), origin: web.origin, 'sec-fetch-site': 'same-origin' })).status, 200);
});

test('only what the page needs can be asked, as JSON, by POST', async () => {
  for (const command of ['set', 'rebuild', 'dissolve', 'verify', 'reconcile', 'nothing', '../v1/status', 'rc_repl', '']) {
    assert.equal((await post(command, {})).status, 404, command);
  }
  assert.equal((await call('/v1/admin/facts', { method: 'POST', headers: own(), body: '{}' })).status, 404);
  assert.equal((await call('/api/facts', { headers: own() })).status, 405);
  assert.equal((await call('/api/facts', { method: 'POST', headers: { ...own(), 'content-type': 'text/plain' }, body: '{}' })).status, 415);
  assert.equal((await call('/api/facts', { method: 'POST', headers: own(), body: 'x' })).status, 400);
  assert.equal((await call('/', { method: 'POST', headers: own() })).status, 405);
});

test('every answer carries the policy', async () => {
  for (const answer of [await call('/'), await call('/app.js'), await post('facts', {}), await call('/none', { headers: own() })]) {
    const policy = answer.headers['content-security-policy'];
    assert.match(policy, /^default-src 'none'; script-src 'self'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.equal(answer.headers['access-control-allow-origin'], undefined);
    assert.equal(answer.headers['set-cookie'], undefined);
  }
});

test('the page has no foreign address, no inline script or style, and no sink that makes markup', async () => {
  for (const path of ['/', '/style.css', '/app.js', '/dom.js', '/memory.js', '/world.js', '/recall.js', '/health.js']) {
    const { status, text } = await call(path);
    assert.equal(status, 200, path);
    assert.doesNotMatch(text.replaceAll('http://www.w3.org/2000/svg', ''), /https?:\/\/|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function/, path);
    assert.doesNotMatch(text, /<script(?! type="module" src="\/)|<style|\sstyle="|\son[a-z]+="/, path);
  }
});

test('without the service it looks on: forgetting says what would go and is refused', async () => {
  const fact = JSON.parse((await post('facts', {})).text).facts[0];
  const preview = JSON.parse((await post('forget', { key: fact.key, as: fact.holder })).text);
  assert.equal(preview.details.preview, true);
  assert.equal((await post('forget', { key: fact.key, as: fact.holder, confirm: preview.details.confirm })).status, 503);
  assert.equal((await post('parked_retry', {})).status, 400);
  assert.equal((await post('parked_retry', { event: 1 })).status, 503);
});

test('with the service it forgets exactly what was shown', async () => {
  await world.startDaemon();
  const [first, second] = JSON.parse((await post('facts', {})).text).facts;
  const ask = (fact, more) => post('forget', { key: fact.key, as: fact.holder, ...more });
  const { details } = JSON.parse((await ask(first)).text);
  assert.equal((await ask(first, { confirm: 'wrong' })).status, 409);
  assert.equal((await ask(second, { confirm: details.confirm })).status, 409);
  assert.equal(JSON.parse((await ask(first, { confirm: details.confirm, purge: true })).text).details.forgotten, true);
  const left = JSON.parse((await post('facts', {})).text).facts.map((fact) => fact.key + fact.holder);
  assert.ok(!left.includes(first.key + first.holder));
  assert.ok(left.includes(second.key + second.holder));
});

test('the eyes of the command line cannot be changed by the page', async () => {
  const narrow = await world.startPage('--as', 'telegram:202');
  const headers = { ...json, authorization: 'Bearer ' + narrow.token };
  const body = JSON.stringify({ params: { as: 'owner' } });
  const found = JSON.parse((await request(narrow.origin, '/api/facts', { method: 'POST', headers, body })).text);
  assert.ok(found.facts.length > 0);
  assert.ok(found.facts.every((fact) => fact.holder === 'person:telegram:202' || fact.holder === 'agent'), JSON.stringify(found.facts));
  assert.equal(await narrow.stop(), 0);
});

test('it ends by a signal, with 0, and has said nothing but the address', async () => {
  const other = await world.startPage();
  await request(other.origin, '/api/facts', { method: 'POST', headers: json, body: '{}' });
  assert.equal(await stopped(other.process, 'SIGINT'), 0);
  assert.equal(other.said.err, '');
  assert.equal(other.said.out.trim().split('\n').length, 1);
});
