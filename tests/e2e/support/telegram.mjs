// A Telegram Bot API on loopback with people in it, so that a gateway sees real senders, direct
// chats and groups, with the envelopes that such a channel brings.
import http from "node:http";
import { once } from "node:events";

const BOT = { id: 123456, is_bot: true, first_name: "Claw", username: "claw_test_bot",
  can_join_groups: true, can_read_all_group_messages: true, supports_inline_queries: false };
const LIFE_MS = 60 * 60_000;
const POLL_MS = 20_000;

export class TelegramServer {
  #updates = [];
  #waiting = new Set(); // polls without an update yet
  #readers = new Set(); // tests that wait for an answer
  #ids = { update: 1000, message: 5000 };

  constructor({ owner }) {
    this.owner = owner;
    this.sent = []; // {chat, text} by the bot
    this.http = http.createServer((request, response) => this.#serve(request, response));
  }

  static async start(options) {
    const server = new TelegramServer(options);
    server.http.listen(0, "127.0.0.1");
    await once(server.http, "listening");
    server.url = `http://127.0.0.1:${server.http.address().port}`;
    server.timer = setTimeout(() => server.stop(), LIFE_MS);
    server.timer.unref();
    return server;
  }

  async stop() {
    clearTimeout(this.timer);
    this.http.closeAllConnections();
    if (!this.http.listening) return;
    this.http.close();
    await once(this.http, "close");
  }

  /** The parts of a host's configuration that lead here: open to all, `owner` may command. */
  hostConfig() {
    return {
      channels: { telegram: { enabled: true, botToken: `${BOT.id}:token`, apiRoot: this.url,
        dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", streaming: { mode: "off" },
        groups: { "*": { requireMention: false } } } },
      session: { dmScope: "per-channel-peer" },
      commands: { ownerAllowFrom: [`telegram:${this.owner}`] },
    };
  }

  /**
   * Says `text` and waits for the bot's next message in the same chat.
   * @param {{from: number, chat?: number}} where `chat` below 0 is a group, else it is `from`
   */
  async converse(text, { from, chat = from }, timeoutMs) {
    const seen = this.sent.length;
    this.#push({ message_id: this.#ids.message += 1, date: Math.floor(Date.now() / 1000), text,
      from: { id: from, is_bot: false, first_name: `Person ${from}`, username: `p${from}` },
      chat: chat < 0 ? { id: chat, type: "supergroup", title: "Group" }
        : { id: chat, type: "private", first_name: `Person ${from}` },
      ...(text.startsWith("/") ? { entities: [{ type: "bot_command", offset: 0,
        length: text.split(" ")[0].length }] } : {}) });
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const answer = this.sent.slice(seen).find((message) => message.chat === chat);
      if (answer) return answer.text;
      const left = deadline - performance.now();
      if (left <= 0) throw new Error(`no answer in chat ${chat} to: ${text}`);
      await this.#nextMessage(left);
    }
  }

  #push(message) {
    this.#updates.push({ update_id: this.#ids.update += 1, message });
    for (const answer of this.#waiting) answer();
  }

  #nextMessage(timeoutMs) {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#readers.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.#readers.add(done);
    });
  }

  async #serve(request, response) {
    const parts = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const method = new URL(request.url, this.url).pathname.split("/").at(-1);
    const params = parse(text, request.headers["content-type"] ?? "");
    if (method === "getUpdates") return this.#poll(params, response);
    return reply(response, this.#result(method, params));
  }

  #result(method, params) {
    const chat = Number(params.chat_id);
    if (method === "getMe") return BOT;
    if (method === "getMyCommands") return [];
    if (method === "getWebhookInfo") return { url: "", pending_update_count: 0 };
    if (method === "getChat") return { id: chat, type: chat < 0 ? "supergroup" : "private" };
    if (method !== "sendMessage") return true;
    this.sent.push({ chat, text: String(params.text ?? "") });
    for (const done of [...this.#readers]) done();
    return { message_id: this.#ids.message += 1, date: Math.floor(Date.now() / 1000), from: BOT,
      chat: { id: chat, type: chat < 0 ? "supergroup" : "private" }, text: params.text };
  }

  #poll(params, response) {
    const offset = Number(params.offset ?? 0);
    const answer = () => {
      clearTimeout(timer);
      this.#waiting.delete(answer);
      this.#updates = this.#updates.filter((update) => update.update_id >= offset);
      reply(response, this.#updates);
    };
    const timer = setTimeout(answer, Math.min(POLL_MS, Number(params.timeout ?? 1) * 1000));
    this.#waiting.add(answer);
    if (this.#updates.some((update) => update.update_id >= offset)) answer();
  }
}

function parse(text, type) {
  if (type.includes("json")) return JSON.parse(text || "{}");
  return Object.fromEntries(new URLSearchParams(text));
}

function reply(response, result) {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ ok: true, result }));
}
