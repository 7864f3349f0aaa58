// Albums as procedures of tRPC.

import { initTRPC } from "@trpc/server";
import type { Pdp, Principal, Resource } from "wardgate";
import { authorize } from "wardgate/trpc";

type Albums = Map<string, Resource>;
type Context = { principal?: Principal | undefined };

const idOf = (input: unknown): string => {
  if (typeof input !== "string") throw new TypeError("an id must be a string");
  return input;
};

export function albumRouter(pdp: Pdp, albums: Albums) {
  const t = initTRPC.context<Context>().create();
  const mayView = authorize<Context, string>(pdp, {
    principal: ({ ctx }) => ctx.principal,
    action: "view",
    resource: ({ input }) => albums.get(input),
  });
  return t.router({ album: t.procedure.input(idOf).use(mayView).query(({ input }) => `here is ${input}`) });
}
