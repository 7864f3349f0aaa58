// A middleware for Hono: the entry `wardgate/hono`.

import type { Context, Env, MiddlewareHandler } from "hono";

import { authorizer, readDenied, type PdpSource, type Question } from "./authorizer.ts";

export type { Found, PdpSource, Question } from "./authorizer.ts";

/** What a middleware may be told. */
export interface AuthorizeOptions<E extends Env> {
  /** Answers who is denied: 403 with the word `Forbidden` unless given. */
  readonly denied?: ((context: Context<E>) => Response | Promise<Response>) | undefined;
}

/**
 * Makes a middleware that lets a request pass when the PDP allows it.
 *
 * What is thrown while the question is put together goes to `app.onError`, which answers 500 unless told
 * otherwise. An `HTTPException` answers for itself: a principal that is not to be found may be a 401.
 *
 * @throws TypeError for a question or an option that cannot be, when the middleware is made.
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
