import { open } from "wardgate";
import { createPool } from "wardgate/pool";
import { answers, now } from "../answers.mjs";

const options = async () => ({ trust: await (await fetch("release.pub.jwk")).json(), now });

answers(
  async () => open(fetch("signed.bundle"), await options()),
  async () => createPool(fetch("signed.bundle"), { ...(await options()), size: 2 }),
).then(
  (text) => (document.title = text),
  (error) => (document.title = `${error.code}: ${error.message}`),
);
