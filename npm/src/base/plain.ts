// Which objects are read by name, and which names.
//
// The general path sees only what an object has of its own. To ask that of every member would cost more
// than everything else, so it is asked of the whole: an object whose prototype is `Object.prototype`
// can inherit nothing but the names that stand there, and of a name that stands there nothing is
// believed. It does not matter who put it there, or when.

/** Whether all that the object inherits is `Object.prototype`, or nothing. */
export function isPlain(value: object): boolean {
  // The hot functions spell the first half out: read like this it is folded into the check of the shape
  // that comes with the next member, which a call of `getPrototypeOf` is not (12 to 30 ns). A member of
  // that name makes the object look odd, which is as good as being odd.
  if ((value as Fields).__proto__ === Object.prototype) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isWithout = prototype === null || (ACCESSOR === "absent" && prototype === Object.prototype);
  // Nothing is inherited under that name here, so what is found is a member.
  return isWithout && (value as Fields).__proto__ === undefined;
}

/** Whether every object has a member of this name, or might seem to. */
export function isInherited(name: string): boolean {
  return name in Object.prototype;
}

/**
 * Whether prototypes cannot be read, or a member of a request that is absent might seem to be there. To be
 * asked before anything is read.
 */
export function isDisturbed(): boolean {
  const object = Object.prototype;
  return ACCESSOR === "throws" || "principal" in object || "action" in object || "resource" in object ||
    "id" in object || "roles" in object || "attr" in object || "kind" in object || "scope" in object ||
    "policyVersion" in object;
}

/** Whether the value has members at all. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/** Whether the value is certainly a list or a map of attributes. Others may be too: that is not for here. */
export function isListOrMap(value: unknown): boolean {
  return isObject(value) && (Array.isArray(value) || isPlain(value));
}

/** An object whose members may be anything. */
export interface Fields {
  readonly [name: string]: unknown;
  readonly __proto__?: unknown;
}

/** What stands for attributes that are absent. */
export const NOTHING: Fields = Object.freeze({});

/** What this host makes of `__proto__`: Deno has taken it away, and Node can be told to let it throw. */
const ACCESSOR = ((): "present" | "absent" | "throws" => {
  try {
    return ({} as Fields).__proto__ === Object.prototype ? "present" : "absent";
  } catch {
    return "throws";
  }
})();
