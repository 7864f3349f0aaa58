// What accessor modules are made of: the entry `wardgate/accessors`.
//
// Such a module is written by `wardgate compile --emit` and imports what it shares with `encode-request.ts` from
// here. Its one function is that of `encode-request.ts` with the names of a bundle in the place of the variables
// of `read-sites.ts`. Nothing here is for use by hand, and it changes together with `FORMAT`.

export { decideLong, decideShort } from "./decide.ts";
export * as frames from "../wasm/frame.ts";
export { digest, planFor } from "./kinds.ts";
export { isDisturbed, isListOrMap, isObject, isPlain, NOTHING } from "../base/plain.ts";
export { classesOf, maskOf } from "./role-masks.ts";
export * as places from "./read-sites.ts";
export { begin } from "../wasm/reentrancy.ts";
export { brokenWord, constantWord, hold } from "./values.ts";

/** Which version of this entry a module was written for. */
export const FORMAT = 3;
