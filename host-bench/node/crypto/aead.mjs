// Authenticated encryption: a text is sealed and opened again. The modules do it in the place of the text;
// node:crypto returns new bytes each time, which is its only way.

import { createCipheriv, createDecipheriv } from "node:crypto";
import { bytesOf, equal, must, read } from "./bytes.mjs";
import { openModule, RIVALS } from "./modules.mjs";

const TAG = 16;

/** Returns the rows. */
export function aead(job) {
  const text = bytesOf(0, job.bytes);
  const rows = [inModule(job, "ours", "Wardgate ChaCha20-Poly1305", "ours", text)];
  for (const [name, remark] of RIVALS) {
    rows.push(inModule(job, name, `${job.names.chacha20poly1305}${remark}`, "rival", text));
  }
  const openssl = `node:crypto (OpenSSL ${process.versions.openssl})`;
  rows.push(inNode(job, "chacha20-poly1305", `${openssl} ChaCha20-Poly1305`, job.chacha, text));
  rows.push(inNode(job, "aes-256-gcm", `${openssl} AES-256-GCM`, job.aes, text));
  return rows;
}

function inModule(job, file, name, side, text) {
  const secrets = ["key", "nonce", "associated"].map((part) => read(job[part]));
  const { module, input, output } = openModule(job, file, Math.max(text.length, 128), TAG);
  input().set(Buffer.concat(secrets));
  must(module.take_secrets(secrets[2].length), name, "refuses the key");
  const expected = read(job.chacha);
  const sealed = sealedBy("chacha20-poly1305", secrets, text).ciphertext;
  input().set(text);
  must(module.round_trip(text.length), name, "does not open what it sealed");
  must(equal(output(), expected), name, "the tag is wrong");
  must(equal(input().subarray(0, text.length), text), name, "opens to something else");
  input().set(sealed);
  output()[0] ^= 1;
  must(!module.opens(text.length), name, "opens what is forged");
  input().set(text);
  let tag = output();
  const act = () => {
    if (tag.length === 0) tag = output();
    return module.round_trip(text.length) && same(tag, expected);
  };
  return { name, side, act };
}

function inNode(job, cipher, name, tag, text) {
  const secrets = ["key", "nonce", "associated"].map((part) => read(job[part]));
  const expected = read(tag);
  const sealed = sealedBy(cipher, secrets, text);
  must(equal(sealed.tag, expected), name, "the tag is wrong");
  must(equal(openedBy(cipher, secrets, sealed), text), name, "opens to something else");
  const forged = Uint8Array.from(expected, (byte, at) => (at === 0 ? byte ^ 1 : byte));
  must(refuses(() => openedBy(cipher, secrets, { ...sealed, tag: forged })), name, "opens what is forged");
  const act = () => {
    const sealed = sealedBy(cipher, secrets, text);
    return same(sealed.tag, expected) && openedBy(cipher, secrets, sealed).length === text.length;
  };
  return { name, side: "rival", act };
}

function sealedBy(name, [key, nonce, associated], text) {
  const cipher = createCipheriv(name, key, nonce, { authTagLength: TAG });
  cipher.setAAD(associated);
  const ciphertext = cipher.update(text);
  cipher.final();
  return { ciphertext, tag: cipher.getAuthTag() };
}

function openedBy(name, [key, nonce, associated], { ciphertext, tag }) {
  const decipher = createDecipheriv(name, key, nonce, { authTagLength: TAG });
  decipher.setAAD(associated);
  decipher.setAuthTag(tag);
  const text = decipher.update(ciphertext);
  decipher.final();
  return text;
}

function refuses(act) {
  try {
    act();
    return false;
  } catch {
    return true;
  }
}

function same(found, expected) {
  for (let byte = 0; byte < TAG; byte++) if (found[byte] !== expected[byte]) return false;
  return true;
}
