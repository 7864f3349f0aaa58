// A pool with real threads of Node: the built package, in a program of its own.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

const cwd = fileURLToPath(new URL("../..", import.meta.url));

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

const imported = `${program}
  main(await import("wardgate/pool"), await import("node:fs"), await import("node:worker_threads"));
`;
const required = `${program}
  main(require("wardgate/pool"), require("node:fs"), require("node:worker_threads"));
`;
// Only for a program that would never end.
const PATIENCE = 120_000;
const expected = "1667 true\nWardgateError internal\n1667 true\n0 true\n3 2\n";

it.each([
  ["import", "module", imported],
  ["require", "commonjs", required],
])("decides in threads, loses one and goes on (%s)", (_, form, text) => {
  const words = [`--input-type=${form}`, "--eval", text];
  expect(execFileSync(process.execPath, words, { cwd, encoding: "utf8", timeout: PATIENCE })).toBe(expected);
}, PATIENCE);
