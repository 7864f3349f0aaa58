// A middleware for procedures of tRPC: the entry `wardgate/trpc`.

import { TRPCError } from "@trpc/server";

import { authorizer, failure, readOptions, type PdpSource, type Question } from "./authorizer.ts";
import type { KindOf, PolicyTypes, RegisteredTypes } from "../pdp/policy-types.ts";

export type { FromContext, PdpSource, Question } from "./authorizer.ts";

/** What the functions of a question read: the context, the input of the procedure, and its path. */
export interface Call<C = unknown, I = unknown> {
  readonly ctx: C;
  readonly input: I;
  readonly path: string;
}

/** The options of `authorize`. */
export interface AuthorizeOptions<C, I> {
  /** Returns the error for a denied call. Default: one with the code `FORBIDDEN`. */
  readonly denied?: ((call: Call<C, I>) => Error | Promise<Error>) | undefined;
}

/**
 * Returns a middleware that runs a procedure if the PDP allows it. Use it after `input`, so that the
 * question reads a checked input.
 *
 * An exception from a function of the question is the error of the call: `TRPCError` as it is, and
 * others as `INTERNAL_SERVER_ERROR`.
 *
 * @throws TypeError if the question or an option is invalid, when the middleware is made.
 *
 * @example
 *     const mayEdit = authorize<Context, { id: string }>(pdp, {
 *       principal: ({ ctx }) => ctx.principal,
 *       action: "edit",
 *       resource: ({ input }) => albums.find(input.id),
 *     });
 *     const rename = t.procedure.input(schema).use(mayEdit).mutation(({ input }) => albums.rename(input));
 */
export function authorize<C = unknown, I = unknown, P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>>(
  pdp: PdpSource<P>, question: Question<Call<C, I>, P, K>, options?: AuthorizeOptions<C, I>,
): <R>(call: { readonly ctx: C; readonly input: I; readonly path: string; readonly next: () => Promise<R> }) => Promise<R> {
  const { denied } = readOptions(options, () => new TRPCError({ code: "FORBIDDEN" }));
  const decide = authorizer(pdp, question);
  return async ({ ctx, input, path, next }) => {
    const call = { ctx, input, path };
    try {
      // Only `true` lets a call pass.
      if ((await decide(call)).allowed !== true) throw failure(await denied(call));
    } catch (thrown) {
      throw failure(thrown);
    }
    return next();
  };
}
