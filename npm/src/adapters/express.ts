// A middleware for Express: the entry `wardgate/express`.

import type { Request, RequestHandler, Response } from "express";

import { authorizer, failure, readOptions, type Limits, type PdpSource, type Question } from "./authorizer.ts";
import type { KindOf, PolicyTypes, RegisteredTypes } from "../pdp/policy-types.ts";

export type { FromContext, LimitedAnswer, Limits, PdpSource, Question } from "./authorizer.ts";

/** The options of `authorize`. */
export interface AuthorizeOptions {
  /** Answers a denied request. Default: status 403 with the body `Forbidden`. */
  readonly denied?: ((request: Request, response: Response) => unknown) | undefined;
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
 * An exception from a function of the question goes to the error handlers. The handler of Express
 * answers 500, or the `status` of the error.
 *
 * @throws TypeError if the question or an option is invalid, when the middleware is made.
 *
 * @example
 *     app.get("/albums/:id", authorize(pdp, {
 *       principal: (request) => request.session?.principal,
 *       action: "view",
 *       resource: async (request) => albums.find(request.params.id),
 *     }), show);
 */
export function authorize<P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>>(
  pdp: PdpSource<P>, question: Question<Request, P, K>, options?: AuthorizeOptions,
): RequestHandler {
  const { denied, limits } = readOptions(options, forbid);
  const decide = authorizer(pdp, question, limits);
  return async (request, response, next) => {
    try {
      const { allowed, headers, problem } = await decide(request);
      response.set(headers);
      if (problem !== undefined) return void response.status(problem.status).type("application/problem+json").send(JSON.stringify(problem));
      // Only `true` lets a request pass.
      if (allowed !== true) return void (await denied(request, response));
    } catch (thrown) {
      return next(failure(thrown));
    }
    // Outside of `try`: exceptions of the next handler are not ours.
    next();
  };
}

function forbid(_: Request, response: Response): void {
  response.status(403).type("text/plain").send("Forbidden");
}
