// Decides which objects and names the fast path may read.
//
// The general path reads own members only. Checking each member for that would cost more than the
// decision, so the check covers the whole object: an object whose prototype is `Object.prototype`
// inherits only the names there, and those names are left to the general path. It does not matter
// which code added them, or when.

/** Returns true if the object is no list, and inherits from `Object.prototype` or from nothing. */
export function isPlain(value: object): boolean {
  // The hot functions repeat this comparison inline: the engine folds it into the check of the
  // shape for the next member, which it does not do for a call of `getPrototypeOf` (12 to 30 ns). A
  // member named `__proto__` makes an object not plain, which is safe. A list may have any prototype.
  if (Array.isArray(value)) return false;
  if ((value as Fields).__proto__ === Object.prototype) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isWithout = prototype === null || (ACCESSOR === "absent" && prototype === Object.prototype);
  // `__proto__` is not inherited here, so a value under that name is an own member.
  return isWithout && (value as Fields).__proto__ === undefined;
}

/** Returns true if objects may inherit a member of this name. */
export function isInherited(name: string): boolean {
  return name in Object.prototype;
}

/**
 * Returns true if prototypes cannot be read, or if an absent member of a request may seem present
 * because `Object.prototype` was changed. Call it before reading a request.
 */
export function isDisturbed(): boolean {
  const object = Object.prototype;
  return ACCESSOR === "throws" || "principal" in object || "action" in object || "resource" in object ||
    "id" in object || "roles" in object || "attr" in object || "kind" in object || "scope" in object ||
    "policyVersion" in object;
}

/** Returns true if the value can have members. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/**
 * Returns true if the value is certainly a list or map of attributes. Other values may be too; the
 * general path decides.
 */
export function isListOrMap(value: unknown): boolean {
  return isObject(value) && (Array.isArray(value) || isPlain(value));
}

/** Returns true if every member of the object has one of these names. */
export function hasOnly(value: object, names: ReadonlySet<string>): boolean {
  for (const name of Object.keys(value)) if (!names.has(name)) return false;
  return true;
}

/** Returns `NOTHING` for attributes that are absent; `null` if the general path must judge them. */
export function attrOrNothing(resource: object, attr: unknown): Fields | null {
  return attr === undefined && hasOnly(resource, RESOURCE_MEMBERS) ? NOTHING : null;
}

/**
 * Returns the tokens of auxiliary data, absent ones without claims; `null` if the general path must
 * judge them.
 */
export function tokensOf(auxData: unknown): Tokens | null {
  if (auxData === undefined) return NO_TOKENS;
  const object = Object.prototype;
  if ("jwt" in object || "jwts" in object || !isObject(auxData) || !isPlain(auxData) || !hasOnly(auxData, AUX_DATA_MEMBERS)) return null;
  const { jwt = NOTHING, jwts = NOTHING } = auxData;
  if (!isObject(jwt) || !isPlain(jwt) || !isObject(jwts) || !isPlain(jwts)) return null;
  return { jwt, jwts };
}

/** Returns the tokens of a request; `null` as above, also if they may be under a misspelt name. */
export function tokensIn(request: Fields): Tokens | null {
  if ("auxData" in Object.prototype) return null;
  const { auxData } = request;
  return auxData === undefined && !hasOnly(request, REQUEST_MEMBERS) ? null : tokensOf(auxData);
}

/** The claims of a token, and further tokens by name. */
export interface Tokens {
  readonly jwt: Fields;
  readonly jwts: Fields;
}

/** The members of a principal and of a resource. The general path refuses others. */
export const PRINCIPAL_MEMBERS: ReadonlySet<string> = new Set(["id", "roles", "attr", "policyVersion", "scope"]);
export const RESOURCE_MEMBERS: ReadonlySet<string> = new Set(["kind", "id", "attr", "policyVersion", "scope"]);

const REQUEST_MEMBERS: ReadonlySet<string> = new Set(["principal", "resource", "action", "auxData", "requestId"]);
const AUX_DATA_MEMBERS: ReadonlySet<string> = new Set(["jwt", "jwts"]);

/** An object with unknown members. */
export interface Fields {
  readonly [name: string]: unknown;
  readonly __proto__?: unknown;
}

/** The value that stands for absent attributes. */
export const NOTHING: Fields = Object.freeze({});

/** The tokens of requests without auxiliary data. */
export const NO_TOKENS: Tokens = { jwt: NOTHING, jwts: NOTHING };

/**
 * The behaviour of `__proto__` on this host: Deno has removed it, and a flag of Node makes it
 * throw.
 */
const ACCESSOR = ((): "present" | "absent" | "throws" => {
  try {
    return ({} as Fields).__proto__ === Object.prototype ? "present" : "absent";
  } catch {
    return "throws";
  }
})();
