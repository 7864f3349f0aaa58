// Albums on Fastify.

import { fastify, type FastifyRequest } from "fastify";
import type { Pdp, Principal, Resource } from "wardgate";
import { authorize } from "wardgate/fastify";

type Albums = Map<string, Resource>;

export function albumApp(pdp: Pdp, albums: Albums, signedIn: (token: string) => Promise<Principal | undefined>) {
  const mayView = authorize(pdp, {
    principal: (request) => signedIn(request.headers.authorization ?? ""),
    action: "view",
    resource: (request: FastifyRequest) => albums.get((request.params as { id: string }).id),
  });
  const app = fastify();
  app.get("/albums/:id", { preHandler: mayView }, async () => "here it is");
  return app;
}
