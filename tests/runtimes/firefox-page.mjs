// The page: its title says how it went. With `?plain` it hands in the module without vectors, because Firefox
// cannot be told to do without.

import plain from "wardgate/wasm/nosimd?url";
import { answer } from "./page.mjs";

answer(location.search === "?plain" ? fetch(plain) : undefined).then(
  () => (document.title = "done"),
  (error) => (document.title = String(error?.stack ?? error)),
);
