// Signs a bundle by the command of the package, and returns the key that verifies it.
//
// The private key goes from its file to the command: no option, argument, message or output has it.

import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { PolicyError } from "./policy-error.ts";
import type { PublicJwk } from "../pdp/keys.ts";

/** A signed bundle and its trust. */
export interface Signed {
  readonly bundle: Uint8Array;
  readonly trust: PublicJwk;
}

/** The place of a private key: the option `key` or the variable of the environment, with the name to show. */
export interface KeySource {
  readonly name: string;
  readonly value: string;
}

/** Returns where the private key is; `undefined` if none is given. */
export function keySource(key: string | undefined, environment: Readonly<Record<string, string | undefined>>): KeySource | undefined {
  if (key !== undefined) return { name: "option `key`", value: key };
  const value = environment[VARIABLE];
  return value === undefined || value.trim() === "" ? undefined : { name: `\`${VARIABLE}\``, value };
}

/** Signs a bundle. The same bundle with the same creation time gives the same bytes. */
export async function signBundle(bundle: Uint8Array, source: KeySource): Promise<Signed> {
  const folder = await mkdtemp(join(tmpdir(), "wardgate-"));
  try {
    const [unsigned, signed] = [join(folder, "policies.wardgate"), join(folder, "signed.wardgate")];
    await writeFile(unsigned, bundle);
    const key = await keyFile(source, folder);
    const trust = await publicKey(key, source);
    await sign(["sign", unsigned, "-o", signed, "--key", key, "--deterministic"], source);
    return { bundle: await readFile(signed), trust };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the path of the file of a key. A key itself is written to a file that only its owner can read. */
async function keyFile({ value }: KeySource, folder: string): Promise<string> {
  if (!value.trimStart().startsWith("{")) return value;
  const path = join(folder, "key.jwk");
  await writeFile(path, value, { mode: 0o600, flag: "wx" });
  await chmod(path, 0o600);
  return path;
}

async function publicKey(path: string, source: KeySource): Promise<PublicJwk> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    // The value may be a key that was spelled wrongly, so it is not shown.
    throw unusable(source, `it names no file that can be read (${error.code ?? "unknown error"}) and is no JSON Web Key`);
  });
  const { kty, alg, kid, pub, priv } = membersOf(text);
  if (priv === undefined) throw unusable(source, "expected the JSON Web Key of a private key, as `wardgate keys generate` writes it");
  if (kty !== "AKP" || typeof pub !== "string") throw unusable(source, "expected a JSON Web Key with `kty` AKP, `alg`, `pub` and `priv`");
  return { kty, alg, pub, ...(kid !== undefined && { kid }) } as PublicJwk;
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const key = JSON.parse(text) as unknown;
    return typeof key === "object" && key !== null ? (key as Record<string, unknown>) : {};
  } catch {
    // The message of the reader could quote the key.
    return {};
  }
}

async function sign(words: readonly string[], source: KeySource): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [fileURLToPath(COMMAND), ...words], { windowsHide: true });
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw unusable(source, stderr?.trim() || "the command `wardgate sign` did not run");
  }
}

function unusable({ name }: KeySource, why: string): PolicyError {
  return new PolicyError(`${name} cannot sign the policies: ${why}`);
}

const VARIABLE = "WARDGATE_SIGNING_KEY";
const COMMAND = new URL("../../bin/wardgate.mjs", import.meta.url);
