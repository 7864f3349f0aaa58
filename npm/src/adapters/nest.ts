// A guard for Nest: the entry `wardgate/nest`. It works on Express and on Fastify, and needs no module of Nest.

import { authorizer, failure, readOptions, type PdpSource, type Question } from "./authorizer.ts";
import type { KindOf, PolicyTypes, RegisteredTypes } from "../pdp/policy-types.ts";

export type { FromContext, PdpSource, Question } from "./authorizer.ts";

/** The part of an `ExecutionContext` of Nest that the guard uses; functions of the question get the whole. */
export interface Execution {
  switchToHttp(): { getRequest<T = unknown>(): T };
}

/** A guard, for `@UseGuards` and `useGlobalGuards`. */
export interface Guard<E> {
  canActivate(context: E): Promise<boolean>;
}

/** The options of `authorize`. */
export interface AuthorizeOptions<E> {
  /** Returns the exception for a denied request. Default: that of Nest, with status 403. */
  readonly denied?: ((context: E) => Error | Promise<Error>) | undefined;
}

/**
 * Returns a guard that lets a request pass if the PDP allows it. An exception from a function of the
 * question goes to the filters of Nest.
 *
 * @throws TypeError if the question or an option is invalid, when the guard is made.
 *
 * @example
 *     @UseGuards(authorize(pdp, {
 *       principal: (context) => context.switchToHttp().getRequest<Request>().principal,
 *       action: "view",
 *       resource: (context) => albums.find(context.switchToHttp().getRequest<Request>().params.id),
 *     }))
 */
export function authorize<E extends Execution = Execution, P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>>(
  pdp: PdpSource<P>, question: Question<E, P, K>, options?: AuthorizeOptions<E>,
): Guard<E> {
  const { denied } = readOptions<((context: E) => Error | Promise<Error>) | undefined>(options, undefined);
  const decide = authorizer(pdp, question);
  const canActivate = async (context: E): Promise<boolean> => {
    try {
      // Only `true` lets a request pass.
      if ((await decide(context)).allowed === true) return true;
      if (denied === undefined) return false;
      throw failure(await denied(context));
    } catch (thrown) {
      throw failure(thrown);
    }
  };
  return { canActivate };
}
