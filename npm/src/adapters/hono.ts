// A middleware for Hono: the entry `wardgate/hono`.

import type { Context, Env, MiddlewareHandler } from "hono";

import { authorizer, readDenied, type PdpSource, type Question } from "./authorizer.ts";

export type { FromContext, PdpSource, Question } from "./authorizer.ts";

/** The options of `authorize`. */
export interface AuthorizeOptions<E extends Env> {
  /** Answers a denied request. Default: status 403 with the body `Forbidden`. */
  readonly denied?: ((context: Context<E>) => Response | Promise<Response>) | undefined;
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
export function authorize<E extends Env = Env>(
  pdp: PdpSource,
  question: Question<Context<E>>,
  options?: AuthorizeOptions<E>,
): MiddlewareHandler<E> {
  const isAllowed = authorizer(pdp, question);
  const denied = readDenied(options, forbid);
  return async (context, next) => {
    if (await isAllowed(context)) return next();
    return (await denied(context)) ?? forbid(context);
  };
}

function forbid(context: Pick<Context, "text">): Response {
  return context.text("Forbidden", 403);
}
