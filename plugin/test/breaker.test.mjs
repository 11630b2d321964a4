import test from "node:test";
import assert from "node:assert/strict";
import { BACK_OFF_MAX_MS, BACK_OFF_MIN_MS, Breaker, FAILURES_TO_OPEN } from "../breaker.js";
import { Link } from "../link.js";
import { scratchSocket, Server, blocks } from "./support/server.mjs";

function arrange() {
  const clock = { at: 1000 };
  const breaker = new Breaker({ now: () => clock.at, random: () => 0.5 });
  const failOpen = () => {
    while (breaker.state !== "open") {
      assert.ok(breaker.admit());
      breaker.fail();
    }
  };
  return { clock, breaker, failOpen };
}

test("the circuit opens after a few failures in a row, not before", () => {
  const { breaker } = arrange();
  for (let n = 1; n < FAILURES_TO_OPEN; n += 1) breaker.fail();
  assert.equal(breaker.state, "closed");
  breaker.fail();
  assert.equal(breaker.state, "open");
  assert.equal(breaker.admit(), false);
});

test("a success in between starts the count anew", () => {
  const { breaker } = arrange();
  for (let n = 0; n < 10; n += 1) {
    breaker.fail();
    breaker.fail();
    breaker.succeed();
  }
  assert.equal(breaker.state, "closed");
});

test("after the back-off exactly one trial passes", () => {
  const { clock, breaker, failOpen } = arrange();
  failOpen();
  clock.at += BACK_OFF_MIN_MS;
  assert.equal(breaker.state, "half-open");
  assert.equal(breaker.admit(), true);
  assert.equal(breaker.admit(), false, "while the trial runs, others do not pass");
  breaker.succeed();
  assert.equal(breaker.state, "closed");
});

test("failed trials double the back-off up to its limit, an abandoned one does not", () => {
  const { clock, breaker, failOpen } = arrange();
  failOpen();
  let backOff = BACK_OFF_MIN_MS;
  for (let n = 0; n < 12; n += 1) {
    clock.at += backOff - 1;
    assert.equal(breaker.admit(), false, `still open after ${backOff - 1} ms`);
    clock.at += 1;
    assert.equal(breaker.admit(), true, `a trial after ${backOff} ms`);
    breaker.skip();
    assert.equal(breaker.admit(), true, "an abandoned trial leaves room for another");
    breaker.fail();
    backOff = Math.min(BACK_OFF_MAX_MS, backOff * 2);
  }
});

test("failures past an open circuit change nothing, cheap ones have a short back-off", () => {
  const { clock, breaker, failOpen } = arrange();
  failOpen();
  for (let n = 0; n < 10; n += 1) breaker.fail();
  clock.at += BACK_OFF_MIN_MS;
  for (let n = 0; n < 6; n += 1) {
    assert.equal(breaker.admit(), true);
    breaker.fail(2000);
    clock.at += 2000;
  }
  assert.equal(breaker.state, "half-open");
});

test("back-off is spread, so that many gateways do not return at one instant", () => {
  const at = (random) => {
    const breaker = new Breaker({ now: () => 0, random: () => random });
    for (let n = 0; n < FAILURES_TO_OPEN; n += 1) breaker.fail();
    let now = 0;
    breaker.now = () => now;
    while (breaker.state === "open") now += 10;
    return now;
  };
  assert.equal(at(0), 800);
  assert.equal(at(0.999), 1200);
});

test("an outage that flickers is told once in five minutes, and then with its count", async (t) => {
  const clock = { at: 0 };
  const warned = [];
  const socketPath = scratchSocket(t);
  const link = new Link({ socketPath, now: () => clock.at,
    logger: { warn: (text) => warned.push(text) } });
  const ask = () => link.insist("/v1/inject", {}, { timeoutMs: 500 });
  const server = new Server(socketPath, () => blocks());
  t.after(() => server.close());

  for (let n = 0; n < 3; n += 1) {
    assert.equal((await ask()).ok, false);
    await server.listen();
    assert.equal((await ask()).ok, true);
    await server.close();
  }
  assert.equal(warned.length, 1);
  clock.at += 6 * 60_000;
  await ask();
  assert.equal(warned.length, 2);
  assert.match(warned[1], /2 short outages since/);
});
