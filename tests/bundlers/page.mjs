// node page.mjs FOLDER LINES
//
// Runs the app that a page of the documents shows, and prints its output: a worker answers, a page that was
// built logs so many lines.

import { cpSync, existsSync } from "node:fs";

import { loggedBy, STRICT } from "./browser.mjs";

const [folder, lines] = process.argv.slice(2);
if (existsSync(`${folder}/wrangler.jsonc`)) {
  const { answerOfFolder } = await import("./wrangler/run.mjs");
  console.log(await answerOfFolder(folder, `${folder}/out`));
} else {
  for (const file of ["policies.wardgate", "release.pub.jwk"]) cpSync(`${folder}/${file}`, `${folder}/dist/${file}`);
  console.log((await loggedBy(`${folder}/dist`, STRICT, Number(lines))).join("\n"));
}
