// The functions that accessor modules import: the entry `wardgate/accessors`.
//
// `wardgate compile --emit` writes such a module. Its one function is that of `encode-request.ts`,
// with the names of a bundle in place of the variables of `read-sites.ts`. This entry is not for
// direct use, and it changes together with `FORMAT`.

export { decideInOrder, decideLong, decideShort } from "./decide.ts";
export { operands, testWord } from "./derived.ts";
export * as frames from "../wasm/frame.ts";
export { digest, ownPath, planFor } from "./kinds.ts";
export { hasOnly, isDisturbed, isListOrMap, isObject, isPlain, NO_TOKENS, NOTHING, PRINCIPAL_MEMBERS, RESOURCE_MEMBERS } from "../base/plain.ts";
export { tokensIn, tokensOf } from "../base/plain.ts";
export { classesOf, maskOf, maskOfOne } from "./role-masks.ts";
export * as places from "./read-sites.ts";
export { begin } from "../wasm/reentrancy.ts";
export { apartWord, brokenWord, hold, laterWord } from "./values.ts";

/** The version of this entry that an accessor module must be written for. */
export const FORMAT = 5;
