// Compares the answers of `wardgate similar`, `analyze` and `compare` with those of the package, byte for byte.
//
// The arguments are the command and folders of policies. Prints a line for each folder.

import { strictEqual } from "node:assert";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

import { analyze, compare, indexOf, similar } from "../../npm/dist/node/analysis.js";

const [command, ...folders] = process.argv.slice(2);
const NOW = "2024-05-06T12:00:00Z";
/** The policies and drafts of one folder that are asked about: each is a call of the command. */
const MOST = 12;

// The package reads the answers of the module with `JSON.parse`: this keeps the text.
const { parse } = JSON;
let text;
JSON.parse = (json) => parse((text = json));

for (const [at, folder] of folders.entries()) {
  const files = filesOf(folder);
  same(folder, native("analyze", folder, "--json"), await textOf(analyze(files, { directory: folder })));
  const { index } = await indexOf(files, { directory: folder });
  const keys = policiesOf(index.groups()).slice(0, MOST);
  for (const to of keys) {
    const expected = native("similar", folder, "--to", to, "--json");
    index.similar({ to });
    same(`${folder}: ${to}`, expected, text);
    same(`${folder}: ${to}`, expected, await textOf(similar(files, { to }, { directory: folder })));
  }
  let drafts = 0;
  for (const [path, contents] of [...files].filter(([path]) => /(?<!_test)\.yaml$/.test(path)).slice(0, MOST)) {
    const expected = native("similar", folder, "--to", join(folder, path), "--top", "3", "--json");
    if (expected === undefined) continue;
    drafts += 1;
    const answer = index.similar({ draft: contents, path }, 3);
    same(`${folder}: ${path}`, expected, answer.rules === undefined ? undefined : text);
  }
  // Another folder as the change, so that there is one.
  const other = folders[(at + 1) % folders.length];
  const compared = compare(files, filesOf(other), { directories: [folder, other], now: new Date(NOW) });
  same(`${folder} and ${other}`, native("compare", folder, other, "--now", NOW, "--format", "json"), await textOf(compared));
  console.log(`analysis: ${folder}: ${keys.length} policies, ${drafts} drafts and a comparison, the same bytes`);
}

/** Returns the text of an answer of the package; `undefined` for diagnostics. */
async function textOf(answering) {
  const { findings, rules, comparison } = await answering;
  return (findings ?? rules ?? comparison) === undefined ? undefined : text;
}

function same(what, expected, found) {
  strictEqual(found, expected, `${what}: the package differs`);
}

/** Returns what the command prints, without the end of the line; `undefined` if it refuses the policies. */
function native(...words) {
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: "utf8", maxBuffer: 2 ** 28 });
  if (status === 0) return stdout.replace(/\n$/, "");
  if (status === 1) return undefined;
  throw new Error(`${words.join(" ")}: ${stderr}`);
}

function policiesOf(groups) {
  return [...new Set(groups.flatMap(({ rules }) => rules.map(({ policy }) => policy)))];
}

function filesOf(folder) {
  const files = new Map();
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile()) files.set(relative(folder, path).split(sep).join("/"), readFileSync(path));
  }
  return files;
}

