// Warns in an explanation of getters that conditions do not see.
//
// Attributes are own members, so a getter of a class is absent: a rule that reads it fails, and denies.
// Only `explain` looks for that, since decisions would become slower by it.

import { describeClass } from "../base/describe.ts";
import type { ActionRequest } from "./request-types.ts";

/** Warns of each getter of a class of attributes whose name is in the text of the explanation. */
export function warnOfGetters(request: ActionRequest, explanation: string): void {
  for (const where of ["principal", "resource"] as const) {
    const attr: unknown = request[where].attr;
    if (describeClass(attr) !== "object") continue;
    for (let from: unknown = Object.getPrototypeOf(attr); from !== null && from !== Object.prototype; from = Object.getPrototypeOf(from)) {
      for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(from))) {
        if (get === undefined || !explanation.includes(name) || Object.hasOwn(attr as object, name)) continue;
        console.warn(`wardgate: conditions do not see the getter \`${name}\` of the class of ${where}.attr; write { ...attr, ${name}: attr.${name} }`);
      }
    }
  }
}
