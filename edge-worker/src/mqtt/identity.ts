// Identifies clients: by the password of CONNECT, which is a token of the configuration or a signed
// one. The user name and the client id are claims, and prove nothing.

import type { AuxData, Principal } from "wardgate";
import type { Connect } from "wardgate/mqtt";

import type { Known } from "../auth.ts";
import { LEEWAY, type Claims } from "../jwt.ts";
import { fromUtf8 } from "../text.ts";
import type { MqttService } from "./service.ts";

/** The proven identity of a client. It is plain data, which the hub stores. */
export interface Identity {
  readonly principal: Principal;
  readonly auxData: AuxData | undefined;
  /** The time in milliseconds after which its token proves nothing. */
  readonly ends: number | undefined;
}

/** Returns the identity of a client, or `undefined` if it must be refused. */
export async function identify(
  { password }: Pick<Connect, "password">,
  address: string | null,
  { config, settings }: Pick<MqttService, "config" | "settings">,
): Promise<Identity | undefined> {
  if (password === undefined) {
    return settings.isAnonymousAllowed ? identityOf({ name: ANONYMOUS }, ANONYMOUS, address) : undefined;
  }
  const caller = await config.authenticator.caller(`Bearer ${textOf(password)}`, Date.now());
  return caller.kind === "known" ? identityOf(caller, CLIENT, address) : undefined;
}

/** Returns true if the identity is proven at a time. */
export function isTimely({ ends }: Pick<Identity, "ends">, now: number): boolean {
  return ends === undefined || now < ends;
}

/** The address of the client, where the platform vouches for it. */
export function addressOf(request: Request): string | null {
  return request.headers.get("CF-Connecting-IP");
}

function identityOf({ name, claims }: Pick<Known, "name" | "claims">, role: string, address: string | null): Identity {
  const roles = claims === undefined ? undefined : rolesOf(claims);
  const exp = claims?.exp;
  return {
    principal: { id: name, roles: roles ?? [role], attr: address === null ? {} : { address } },
    auxData: claims === undefined ? undefined : { jwt: shown(claims) },
    ends: typeof exp === "number" ? 1000 * (exp + LEEWAY) : undefined,
  };
}

/** Returns the roles that the issuer of a token gives. */
function rolesOf({ roles }: Claims): string[] | undefined {
  const isList = Array.isArray(roles) && roles.length > 0 && roles.every((role) => typeof role === "string");
  return isList ? roles : undefined;
}

/** Returns claims as conditions see them: the audience is a list, and times are texts. */
function shown({ ...claims }: Claims): { [name: string]: never } {
  const all: { [name: string]: unknown } = claims;
  if (typeof all["aud"] === "string") all["aud"] = [all["aud"]];
  for (const name of ["exp", "nbf", "iat"]) {
    const seconds = all[name];
    if (typeof seconds !== "number") continue;
    const time = new Date(1000 * Math.trunc(seconds));
    if (!Number.isNaN(time.getTime())) all[name] = time.toISOString().replace(".000Z", "Z");
  }
  return all as { [name: string]: never };
}

function textOf(password: Uint8Array): string {
  try {
    return fromUtf8(password);
  } catch {
    return "";
  }
}

/** The role of clients whose token names none. */
const CLIENT = "client";
/** The name and the role of clients that prove nothing. */
const ANONYMOUS = "anonymous";
