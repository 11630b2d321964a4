// A home folder with the bundled sample and something hostile in it, the real daemon, and `clawmark web`.

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = (name) => join(process.env.CLAWMARK_BIN_DIR, name);
const sample = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../deploy/sample');

export const kHostile = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>';

// Markup is not taken for a fact; this is.
const kDecision = 'We decided to use the "onload=hurt() &lt;Barbox&gt; scanner for the door list.';

export class World {
  constructor() {
    this.home = mkdtempSync(join(tmpdir(), 'clawmark-web-'));
    this.env = { HOME: this.home, PATH: process.env.PATH, TZ: 'UTC' };
    const story = join(this.home, 'story');
    cpSync(sample, story, { recursive: true });
    const line = (at, who, text) => JSON.stringify({ at, [who]: text }) + '\n';
    writeFileSync(join(story, 'sessions', '13-hostile.jsonl'),
      JSON.stringify({ title: kHostile, key: 'agent:main:telegram:direct:101', kept: 'database' }) + '\n' +
      line('d18 19:00', 'mira', `Mind ${kHostile} at the door list.`) + line('d18 19:00', 'mira', kDecision) + line('d18 19:01', 'agent', `Noted: ${kHostile} javascript:alert(1)`));
    this.run('clawmark-sample', join(this.home, '.openclaw'), '--story', story);
    this.run('clawmarkd', '--once');
  }

  run(name, ...options) {
    const done = spawnSync(program(name), options, { env: this.env, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`${name} ${options.join(' ')}: ${done.stdout}${done.stderr}`);
    return done.stdout;
  }
  ask(...options) {
    return JSON.parse(this.run('clawmark', '--json', ...options));
  }

  async startDaemon() {
    this.daemon = spawn(program('clawmarkd'), [], { env: this.env, stdio: 'ignore' });
    const socket = join(this.home, '.local/share/clawmark/clawmark.sock');
    while (!existsSync(socket)) await new Promise((resolve) => { setTimeout(resolve, 20); });
  }

  async startPage(...options) {
    const page = spawn(program('clawmark'), ['--json', 'web', ...options], { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { out: '', err: '' };
    page.stderr.on('data', (bytes) => { said.err += bytes; });
    const url = await new Promise((done, fail) => {
      page.stdout.on('data', (bytes) => {
        said.out += bytes;
        if (said.out.includes('\n')) done(JSON.parse(said.out).url);
      });
      page.on('exit', () => fail(new Error('clawmark web has ended: ' + said.err)));
    });
    const { origin, hash } = new URL(url);
    return { process: page, said, url, origin, token: hash.slice('#token='.length), stop: () => stopped(page, 'SIGTERM') };
  }

  async stop() {
    if (this.daemon) await stopped(this.daemon, 'SIGTERM');
    rmSync(this.home, { recursive: true, force: true });
  }
}

export function stopped(child, signal) {
  if (child.exitCode !== null) return child.exitCode;
  const ended = new Promise((resolve) => { child.on('exit', resolve); });
  child.kill(signal);
  return ended;
}

// A request with headers that a browser would not let a page set.
export function request(origin, path, { method = 'GET', headers = {}, body = '' } = {}) {
  const { hostname, port } = new URL(origin);
  return new Promise((done, fail) => {
    const call = http.request({ hostname, port, path, method, headers, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (bytes) => { text += bytes; });
      answer.on('end', () => done({ status: answer.statusCode, headers: answer.headers, text }));
    });
    call.on('error', fail);
    call.end(body);
  });
}
