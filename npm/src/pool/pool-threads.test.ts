// A pool with real threads of Node: the built package, in a program of its own.

import { expect, it } from "vitest";

import { node } from "../testing.ts";

const program = `
  const principal = { id: "ada", roles: ["user"] };
  const attr = (at) => new Map([["owner", at % 3 === 0 ? "ada" : "bo"]]);
  const resources = Array.from({ length: 5000 }, (_, at) => ({ kind: "album", id: "a" + at, attr: attr(at) }));
  const say = (batch) => batch.then((rows) => console.log(rows.length, rows.every((row, at) => row === resources[3 * at])),
    (error) => console.log(error.name, error.code));
  const request = { principal, action: "edit", resources };

  async function main({ createPool }, { readFileSync }, { Worker }) {
    // Each reading of the clock is a second later: the cost of a batch is worth the workers.
    let time = 0;
    performance.now = () => (time += 1000);
    const started = [];
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message) {
      if (!started.includes(this)) started.push(this);
      return postMessage.call(this, message);
    };
    const pool = await createPool(readFileSync("fixtures/album.bundle"), { trust: "unsigned", size: 2 });
    await say(pool.filter(request));
    const batch = say(pool.filter(request));
    started[0].terminate();
    await batch;
    while (pool.size < 2) await new Promise(setImmediate);
    await say(pool.filter(request));
    pool.reload(readFileSync("fixtures/closed.bundle"));
    await say(pool.filter(request));
    console.log(started.length, pool.size);
    // The pool is not closed: the program ends all the same.
  }
`;

// Only for a program that would never end.
const PATIENCE = 120_000;
const expected = "1667 true\nWardgateError internal\n1667 true\n0 true\n3 2\n";

it.each([["import", "module"], ["require", "commonjs"]])("decides in threads, loses one and goes on (%s)", (load, form) => {
  const modules = ["wardgate/pool", "node:fs", "node:worker_threads"].map((name) => `await ${load}("${name}")`);
  const text = `${program} (async () => main(${modules.join()}))();`;
  expect(node([`--input-type=${form}`, "--eval", text], PATIENCE)).toBe(expected);
}, PATIENCE);
