// The public face of the package: open a bundle, ask the PDP.

export { WardgateError, type Code } from "./errors.ts";
export { open } from "./open.ts";
export type { OpenOptions, Trust } from "./options.ts";
export type {
  Accessors,
  ActionRequest,
  AttributeValue,
  Attributes,
  AuxData,
  Bundle,
  CheckRequest,
  FilterRequest,
  Pdp,
  PreparedAction,
  PreparedPrincipal,
  PreparedQuestion,
  Principal,
  Resource,
  Topic,
} from "./types.ts";
export type {
  ActionDecision,
  Decision,
  Effect,
  EvaluationError,
  Explanation,
  Json,
  Output,
  Reason,
  Step,
  ValidationError,
} from "./decision.ts";
