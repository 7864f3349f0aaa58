// A middleware for Express: the entry `wardgate/express`.

import type { Request, RequestHandler, Response } from "express";

import { authorizer, readDenied, type PdpSource, type Question } from "./authorizer.ts";

export type { Found, PdpSource, Question } from "./authorizer.ts";

/** What a middleware may be told. */
export interface AuthorizeOptions {
  /** Answers who is denied: 403 with the word `Forbidden` unless given. */
  readonly denied?: ((request: Request, response: Response) => unknown) | undefined;
}

/**
 * Makes a middleware that lets a request pass when the PDP allows it.
 *
 * What is thrown while the question is put together goes to the error handlers; that of Express answers 500,
 * or the `status` of the error.
 *
 * @throws TypeError for a question or an option that cannot be, when the middleware is made.
 *
 * @example
 *     app.get("/albums/:id", authorize(pdp, {
 *       principal: (request) => request.session?.principal,
 *       action: "view",
 *       resource: async (request) => albums.find(request.params.id),
 *     }), show);
 */
export function authorize(pdp: PdpSource, question: Question<Request>, options?: AuthorizeOptions): RequestHandler {
  const isAllowed = authorizer(pdp, question);
  const denied = readDenied(options, forbid);
  return async (request, response, next) => {
    try {
      if (!(await isAllowed(request))) return void (await denied(request, response));
    } catch (thrown) {
      return next(failure(thrown));
    }
    // Not inside of `try`: what the next handler throws is not ours.
    next();
  };
}

function forbid(_: Request, response: Response): void {
  response.status(403).type("text/plain").send("Forbidden");
}

/** An error for sure: `next` takes nothing for a pass, and the words `route` and `router` for a way round. */
function failure(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error("no question could be put together", { cause: thrown });
}
