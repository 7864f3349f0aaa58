import { open } from "wardgate";
import { answers, now } from "../asked.mjs";

answers(async () => {
  const trust = await (await fetch("release.pub.jwk")).json();
  return open(fetch("signed.bundle"), { trust, now });
}).then(
  (said) => (document.title = said),
  (error) => (document.title = `${error.code}: ${error.message}`),
);
