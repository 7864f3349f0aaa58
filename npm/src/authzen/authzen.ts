// The OpenID AuthZEN Authorization API 1.0 for servers: the entry `wardgate/authzen`.
//
// It reads requests from parsed JSON, answers them with a PDP, and returns plain values for JSON.
// It contains no HTTP. A server parses the body, calls a reader and the matching function, and
// answers an `AuthzenError` with status 400.

export { evaluate, toRequest, type Answer, type Answers, type Directory, type LimitEntry } from "./authzen-decide.ts";
export { evaluateAllLimited, evaluateLimited, type LimitedAnswer } from "./authzen-limited.ts";
export { evaluateAll } from "./authzen-many.ts";
export { PageTokens, type PageWindow, type Searching } from "./authzen-pages.ts";
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
  type SearchResults,
  type Reference,
  type Window,
} from "./authzen-search.ts";

/** The paths of the endpoints, below the URL of the PDP. */
export const PATHS = {
  access_evaluation_endpoint: "/access/v1/evaluation",
  access_evaluations_endpoint: "/access/v1/evaluations",
  search_subject_endpoint: "/access/v1/search/subject",
  search_resource_endpoint: "/access/v1/search/resource",
  search_action_endpoint: "/access/v1/search/action",
} as const;

/** The path of the metadata, between the host and the path of the PDP. */
export const WELL_KNOWN = "/.well-known/authzen-configuration";

/** An endpoint, by its name in the metadata. */
export type Endpoint = keyof typeof PATHS;

/** The metadata of a PDP: its URL and the URLs of its endpoints. */
export type Metadata = { readonly policy_decision_point: string } & { readonly [Name in Endpoint]?: string };

/** The body of an error: a stable code, and a message for people. */
export interface ErrorBody {
  /** The stable code. */
  readonly error: string;
  /** The message for people. */
  readonly message: string;
}

/**
 * Returns the metadata of the PDP at `url` with these endpoints. Default: all endpoints. A host
 * without a directory leaves out the searches for subjects and resources.
 *
 * @throws RangeError if the URL is invalid, has a query or a fragment, or is not https; http is
 * allowed for this machine.
 */
export function metadata(url: string, endpoints: readonly Endpoint[] = Object.keys(PATHS) as Endpoint[]): Metadata {
  const base = readUrl(url);
  const served = endpoints.map((name) => [name, `${base}${PATHS[name]}`] as const);
  return { policy_decision_point: base, ...(Object.fromEntries(served) as { [Name in Endpoint]?: string }) };
}

/** Returns the URL without slashes at its end. */
function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || /[?#]/.test(text)) {
    throw new RangeError(`the URL of a PDP must have no query and no fragment, found \`${text}\``);
  }
  // A client that trusts metadata from plain HTTP would send its requests to the server of an
  // attacker.
  if (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))) return text.replace(/\/+$/, "");
  throw new RangeError(`the URL of a PDP must begin with https:, found \`${text}\``);
}

/** Returns true if a host, as `URL` writes it, is this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}
