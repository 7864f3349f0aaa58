// Warns in an explanation of getters that conditions do not see.
//
// Attributes are own members, so a getter of a class is absent: a rule that reads it fails, and denies.
// Only `explain` looks for that, since decisions would become slower by it.

import { describeClass } from "../base/describe.ts";
import type { ActionRequest } from "./types.ts";

/** Warns of each getter of a class of attributes whose name is in the text of the explanation. */
export function warnOfGetters({ principal, resource }: ActionRequest, explanation: string): void {
  for (const [where, attr] of [["principal", principal.attr], ["resource", resource.attr]] as const) {
    for (const name of gettersOf(attr)) {
      if (!explanation.includes(name)) continue;
      console.warn(`wardgate: conditions do not see the getter \`${name}\` of the class of ${where}.attr; write { ...attr, ${name}: attr.${name} }`);
    }
  }
}

/** Returns the names of the getters that an object of a class inherits. */
function gettersOf(attr: unknown): string[] {
  const names: string[] = [];
  if (describeClass(attr) !== "object") return names;
  for (let from = Object.getPrototypeOf(attr) as object | null; from !== null; from = Object.getPrototypeOf(from) as object | null) {
    const members = Object.entries(Object.getOwnPropertyDescriptors(from));
    // The last prototype is that of all objects.
    if (Object.getPrototypeOf(from) === null) break;
    names.push(...members.filter(([name, { get }]) => get !== undefined && !Object.hasOwn(attr as object, name)).map(([name]) => name));
  }
  return names;
}
