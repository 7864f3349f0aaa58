// The page: its title says how it went.

import { answer } from "./page.mjs";

answer().then(
  () => (document.title = "done"),
  (error) => (document.title = String(error?.stack ?? error)),
);
