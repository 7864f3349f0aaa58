// A hook for Fastify: the entry `wardgate/fastify`.

import type { FastifyReply, FastifyRequest } from "fastify";

import { authorizer, failure, readOptions, type Limits, type PdpSource, type Question } from "./authorizer.ts";
import type { KindOf, PolicyTypes, RegisteredTypes } from "../pdp/policy-types.ts";

export type { FromContext, LimitedAnswer, Limits, PdpSource, Question } from "./authorizer.ts";

/** The options of `authorize`. */
export interface AuthorizeOptions {
  /** Answers a denied request. Default: status 403 with the body `Forbidden`. */
  readonly denied?: ((request: FastifyRequest, reply: FastifyReply) => unknown) | undefined;
  /** Decides with the limits of the policies, as for the other adapters. */
  readonly limits?: Limits | undefined;
}

/**
 * Returns a hook, for `preHandler`, that passes a request on if the PDP allows it. An exception from a
 * function of the question goes to the error handler.
 *
 * @throws TypeError if the question or an option is invalid, when the hook is made.
 *
 * @example
 *     const mayView = authorize(pdp, { principal: (request) => request.principal, action: "view", resource: albumOf });
 *     app.get("/albums/:id", { preHandler: mayView }, show);
 */
export function authorize<P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>>(
  pdp: PdpSource<P>, question: Question<FastifyRequest, P, K>, options?: AuthorizeOptions,
): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  const { denied, limits } = readOptions(options, forbid);
  const decide = authorizer(pdp, question, limits);
  return async (request, reply) => {
    try {
      const { allowed, headers, problem } = await decide(request);
      reply.headers(headers);
      if (problem !== undefined) return reply.code(problem.status).type("application/problem+json").send(JSON.stringify(problem));
      // Only `true` lets a request pass.
      if (allowed === true) return undefined;
      const answer = await denied(request, reply);
      // A hook that returns no reply would pass the request on.
      return reply.sent ? reply : reply.send(answer ?? "Forbidden");
    } catch (thrown) {
      throw failure(thrown);
    }
  };
}

function forbid(_: FastifyRequest, reply: FastifyReply): string {
  reply.code(403).type("text/plain");
  return "Forbidden";
}
