// A guard for albums in Nest: `@UseGuards(albumGuard(pdp, albums, signedIn))` above a controller or a method.

import type { ExecutionContext } from "@nestjs/common";
import type { Pdp, Principal, Resource } from "wardgate";
import { authorize } from "wardgate/nest";

type Albums = Map<string, Resource>;
type Request = { headers: { authorization?: string }; params: { id: string } };

export function albumGuard(pdp: Pdp, albums: Albums, signedIn: (token: string) => Promise<Principal | undefined>) {
  const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<Request>();
  return authorize<ExecutionContext>(pdp, {
    principal: (context) => signedIn(requestOf(context).headers.authorization ?? ""),
    action: "view",
    resource: (context) => albums.get(requestOf(context).params.id),
  });
}
