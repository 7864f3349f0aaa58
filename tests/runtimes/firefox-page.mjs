// The page: its title is the outcome. With `?plain` it hands in the module without vectors, because Firefox
// has no setting that switches them off.

import plain from "wardgate/wasm/nosimd?url";
import { answer } from "./page.mjs";

answer(location.search === "?plain" ? fetch(plain) : undefined).then(
  () => (document.title = "done"),
  (error) => (document.title = String(error?.stack ?? error)),
);
