// Albums behind a middleware for Hono.

import { Hono } from "hono";
import type { Pdp, Principal, Resource } from "wardgate";
import { authorize } from "wardgate/hono";

type Albums = Map<string, Resource>;
type Session = { Variables: { principal?: Principal } };

export function albumApp(pdp: Pdp, albums: Albums, signedIn: (token: string) => Promise<Principal | undefined>) {
  const app = new Hono<Session>();
  app.use(async (context, next) => {
    const principal = await signedIn(context.req.header("authorization") ?? "");
    if (principal !== undefined) context.set("principal", principal);
    return next();
  });
  const mayView = authorize<Session>(pdp, {
    principal: (context) => context.get("principal"),
    action: "view",
    resource: (context) => albums.get(context.req.param("id") ?? ""),
  });
  return app.get("/albums/:id", mayView, (context) => context.text("here it is"));
}
