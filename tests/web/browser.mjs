// Chromium over a pipe of the DevTools protocol: no package, no port.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const kWaitMs = 15_000;

export class Browser {
  static async start(program) {
    const browser = new Browser();
    browser.folder = mkdtempSync(join(tmpdir(), 'clawmark-chromium-'));
    const options = ['--headless=new', '--remote-debugging-pipe', '--user-data-dir=' + browser.folder, '--no-first-run',
      '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--disable-component-update', '--disable-sync',
      '--disable-extensions', '--mute-audio', '--force-color-profile=srgb', '--lang=en-US',
      // Nothing but this machine can be reached.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'];
    if (process.getuid() === 0) options.push('--no-sandbox');
    browser.process = spawn(program, [...options, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: browser.folder },
    });
    browser.next = 1;
    browser.waiting = new Map();
    browser.pages = new Map();
    let rest = Buffer.alloc(0);
    browser.process.stdio[4].on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        browser.take(JSON.parse(rest.subarray(0, end).toString()));
        rest = rest.subarray(end + 1);
      }
    });
    browser.process.stdio[3].on('error', () => {});
    browser.process.on('exit', () => {
      for (const { fail } of browser.waiting.values()) fail(new Error('the browser has ended'));
    });
    return browser;
  }

  take(message) {
    if (message.id === undefined) {
      this.pages.get(message.sessionId)?.event(message.method, message.params);
      return;
    }
    const { done, fail, method } = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) fail(new Error(`${method}: ${message.error.message}`));
    else done(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    return new Promise((done, fail) => { this.waiting.set(id, { done, fail, method }); });
  }

  async page() {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId);
    this.pages.set(sessionId, page);
    for (const domain of ['Page', 'Runtime', 'Network', 'Log', 'Accessibility']) await page.send(domain + '.enable');
    return page;
  }

  async stop() {
    const ended = new Promise((resolve) => { this.process.on('exit', resolve); });
    await this.send('Browser.close').catch(() => {});
    await ended;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Page {
  constructor(browser, sessionId) {
    this.browser = browser;
    this.sessionId = sessionId;
    this.requests = []; // { url, headers }
    this.stubs = new Map(); // by the end of an address: what is answered in place of the server
    this.complaints = []; // errors of the console, exceptions, what the policy refused
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  event(method, params) {
    if (method === 'Network.requestWillBeSent') this.requests.push({ url: params.request.url, headers: params.request.headers });
    if (method === 'Fetch.requestPaused') this.answer(params);
    if (method === 'Runtime.exceptionThrown') this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === 'Runtime.consoleAPICalled' && params.type !== 'debug') this.complaints.push(params.args.map((one) => one.value ?? one.description).join(' '));
    if (method === 'Log.entryAdded' && params.entry.level !== 'verbose') this.complaints.push(`${params.entry.text} ${params.entry.url ?? ''}`);
  }

  answer({ requestId, request }) {
    const stub = [...this.stubs].find(([end]) => request.url.endsWith(end));
    if (!stub) return this.send('Fetch.continueRequest', { requestId });
    this.stubbed = [...(this.stubbed ?? []), request.postData];
    return this.send('Fetch.fulfillRequest', { requestId, responseCode: 200, responseHeaders: [{ name: 'content-type', value: 'application/json' }],
      body: Buffer.from(JSON.stringify(stub[1])).toString('base64') });
  }

  // The value of an expression in the page; a promise is waited for.
  async run(expression) {
    const answer = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (answer.exceptionDetails) throw new Error(answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text);
    return answer.result.value;
  }

  // Until an expression is true: looked at with each frame of the page.
  async until(expression, what = expression) {
    const found = await this.run(`new Promise((done) => {
      const end = performance.now() + ${kWaitMs};
      const look = () => {
        let value = false;
        try { value = ${expression}; } catch { value = false; }
        if (value) done(true); else if (performance.now() > end) done(false); else setTimeout(look, 10);
      };
      look();
    })`);
    if (!found) throw new Error(`not within ${kWaitMs} ms: ${what}\n` + await this.run('document.body.innerText.slice(0, 2000)'));
  }

  async go(url) {
    await this.send('Page.navigate', { url });
  }

  text() {
    return this.run('document.body.innerText');
  }

  async press(key) {
    const codes = { Enter: 13, Tab: 9, Escape: 27 };
    const text = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined;
    const common = { key, windowsVirtualKeyCode: codes[key], text };
    await this.send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', ...common });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, windowsVirtualKeyCode: codes[key] });
  }
  async type(text) {
    for (const character of text) await this.press(character);
  }

  size(width, height, mobile = false) {
    return this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile });
  }
  scheme(value) {
    return this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
  }

  async shot(file) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(file, Buffer.from(data, 'base64'));
  }

  // What a screen reader is told: role and name of everything in the page.
  async spoken() {
    const { nodes } = await this.send('Accessibility.getFullAXTree');
    return nodes.filter((node) => !node.ignored).map((node) => ({ role: node.role?.value, name: node.name?.value ?? '' }));
  }
}
