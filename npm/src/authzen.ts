// `wardgate/authzen`: the OpenID AuthZEN Authorization API 1.0, for whoever serves it.
//
// Requests are read out of parsed JSON, answered by a PDP, and returned as what JSON is made of. There is no
// HTTP here. A server parses the body, calls a reader and the function that answers, and turns an
// `AuthzenError` into the status 400.

export { evaluate, toRequest, type Answer, type Answers, type Directory } from "./authzen-decide.ts";
export { evaluateAll } from "./authzen-many.ts";
export { PageTokens, type Place, type Searching } from "./authzen-pages.ts";
export {
  AuthzenError,
  MAX_CANDIDATES,
  MAX_EVALUATIONS,
  parseBody,
  readActionSearch,
  readEvaluation,
  readEvaluations,
  readResourceSearch,
  readSubjectSearch,
  type Action,
  type ActionSearch,
  type Entity,
  type Evaluation,
  type Evaluations,
  type Page,
  type ResourceSearch,
  type Semantic,
  type SubjectSearch,
} from "./authzen-read.ts";
export {
  searchActions,
  searchResources,
  searchSubjects,
  type Among,
  type Found,
  type Reference,
  type Window,
} from "./authzen-search.ts";

/** Where the endpoints are, below the URL of the PDP. */
export const PATHS = {
  access_evaluation_endpoint: "/access/v1/evaluation",
  access_evaluations_endpoint: "/access/v1/evaluations",
  search_subject_endpoint: "/access/v1/search/subject",
  search_resource_endpoint: "/access/v1/search/resource",
  search_action_endpoint: "/access/v1/search/action",
} as const;

/** Where the metadata of a PDP is, between its host and its path. */
export const WELL_KNOWN = "/.well-known/authzen-configuration";

/** What a PDP tells about itself. */
export type Metadata = { readonly policy_decision_point: string } & { readonly [Name in keyof typeof PATHS]: string };

/** The body of an answer that is none: a code that does not change, and a text for people. */
export interface ErrorBody {
  readonly error: string;
  readonly message: string;
}

/**
 * The metadata of the PDP at `url`.
 *
 * @throws RangeError if it is no URL, or has a query or a fragment.
 */
export function metadata(url: string): Metadata {
  const base = readUrl(url);
  const endpoints = Object.entries(PATHS).map(([name, path]) => [name, `${base}${path}`] as const);
  return { policy_decision_point: base, ...(Object.fromEntries(endpoints) as { [Name in keyof typeof PATHS]: string }) };
}

/** The URL without a slash at its end. */
function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.search !== "" || url.hash !== "" || !/^https?:$/.test(url.protocol)) {
    throw new RangeError(`the URL of a PDP must have no query and no fragment, found \`${text}\``);
  }
  return text.replace(/\/+$/, "");
}
