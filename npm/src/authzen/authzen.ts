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

/** An endpoint, by the name that metadata have for it. */
export type Endpoint = keyof typeof PATHS;

/** What a PDP tells about itself: where it is, and the endpoints that it serves. */
export type Metadata = { readonly policy_decision_point: string } & { readonly [Name in Endpoint]?: string };

/** The body of an answer that is none: a code that does not change, and a text for people. */
export interface ErrorBody {
  readonly error: string;
  readonly message: string;
}

/**
 * The metadata of the PDP at `url`, which serves these endpoints: all of them unless given. A host that has nothing to
 * search through leaves out those for subjects and resources.
 *
 * @throws RangeError if it is no URL, or has a query or a fragment, or is not https: and not on this machine.
 */
export function metadata(url: string, endpoints: readonly Endpoint[] = Object.keys(PATHS) as Endpoint[]): Metadata {
  const base = readUrl(url);
  const served = endpoints.map((name) => [name, `${base}${PATHS[name]}`] as const);
  return { policy_decision_point: base, ...(Object.fromEntries(served) as { [Name in Endpoint]?: string }) };
}

/** The URL without a slash at its end. */
function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || /[?#]/.test(text)) {
    throw new RangeError(`the URL of a PDP must have no query and no fragment, found \`${text}\``);
  }
  // Who believes metadata that came over plain HTTP asks whoever changed them.
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) return text.replace(/\/+$/, "");
  throw new RangeError(`the URL of a PDP must begin with https:, found \`${text}\``);
}

/** Whether a host, as `URL` writes it, is this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}
