// Lets the browser of this page answer the questions.

import { run } from "./run.mjs";

/** Reads the questions, answers them, and reports. `plain` is the module without vectors, if it is used. */
export async function answer(plain) {
  const [name] = /(Firefox|Chrome)\/\d+/.exec(navigator.userAgent) ?? [navigator.userAgent];
  const { body } = await fetch("/questions");
  const report = await run(name.replace("/", " "), body, plain);
  await fetch("/report", { method: "POST", body: JSON.stringify(report) });
}
