// Albums behind a middleware for Express.

import express from "express";
import type { Pdp, Principal, Resource } from "wardgate";
import { authorize } from "wardgate/express";

type Albums = Map<string, Resource>;

export function albumApp(pdp: Pdp, albums: Albums, signedIn: (token: string) => Promise<Principal | undefined>) {
  const mayView = authorize(
    pdp,
    {
      principal: (request) => signedIn(request.get("authorization") ?? ""),
      action: "view",
      resource: (request) => albums.get(String(request.params["id"])),
    },
    // A denied caller must not learn that the album exists.
    { denied: (_, response) => response.status(404).type("text/plain").send("no such album") },
  );
  return express().get("/albums/:id", mayView, (_, response) => void response.send("here it is"));
}
