// Asks the browser that this page is open in.

import { run } from "./run.mjs";

/** Reads the questions, answers them, and reports. */
export async function answer() {
  const [name] = /(Firefox|Chrome)\/\d+/.exec(navigator.userAgent) ?? [navigator.userAgent];
  const { body } = await fetch("/questions");
  const report = await run(name.replace("/", " "), body);
  await fetch("/report", { method: "POST", body: JSON.stringify(report) });
}
