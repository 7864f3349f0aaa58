// A middleware for Hono: the entry `wardgate/hono`.

import type { Context, Env, MiddlewareHandler } from "hono";

import { authorizer, readOptions, type Limits, type PdpSource, type Question } from "./authorizer.ts";
import type { KindOf, PolicyTypes, RegisteredTypes } from "../pdp/policy-types.ts";

export type { FromContext, LimitedAnswer, Limits, PdpSource, Question } from "./authorizer.ts";

/** The options of `authorize`. */
export interface AuthorizeOptions<E extends Env> {
  /** Answers a denied request. Default: status 403 with the body `Forbidden`. */
  readonly denied?: ((context: Context<E>) => Response | Promise<Response>) | undefined;
  /**
   * Decides with the limits of the policies: `limiter(pdp, { store })` of `wardgate/ratelimit`. Responses have
   * the fields of limits, and a request that a limit denies is answered with 429, or with 503 while the
   * store of the limits is away, as `application/problem+json`.
   */
  readonly limits?: Limits | undefined;
}

/**
 * Returns a middleware that passes a request on if the PDP allows it.
 *
 * An exception from a function of the question goes to `app.onError`, which answers 500 by default.
 * An `HTTPException` is answered with its own status, such as 401 for a missing principal.
 *
 * @throws TypeError if the question or an option is invalid, when the middleware is made.
 *
 * @example
 *     app.get("/albums/:id", authorize(pdp, {
 *       principal: (c) => c.get("session")?.principal,
 *       action: "view",
 *       resource: async (c) => albums.find(c.req.param("id")),
 *     }), show);
 */
export function authorize<E extends Env = Env, P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>>(
  pdp: PdpSource<P>,
  question: Question<Context<E>, P, K>,
  options?: AuthorizeOptions<E>,
): MiddlewareHandler<E> {
  const { denied, limits } = readOptions(options, forbid);
  const decide = authorizer(pdp, question, limits);
  return async (context, next) => {
    const { allowed, headers, problem } = await decide(context);
    // Only `true` lets a request pass.
    if (allowed === true) {
      await next();
      for (const [name, value] of Object.entries(headers)) context.header(name, value);
      return undefined;
    }
    const response = problem === undefined ? ((await denied(context)) ?? forbid(context)) : problemResponse(problem);
    return Object.keys(headers).length === 0 ? response : withHeaders(response, headers);
  };
}

function problemResponse(problem: { readonly status: number }): Response {
  return new Response(JSON.stringify(problem), { status: problem.status, headers: { "Content-Type": "application/problem+json" } });
}

/** Returns a copy, since the headers of a response may be fixed. */
function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  const copy = new Response(response.body, response);
  for (const [name, value] of Object.entries(headers)) copy.headers.set(name, value);
  return copy;
}

function forbid(context: Pick<Context, "text">): Response {
  return context.text("Forbidden", 403);
}
