// Albums in React: the server decides for the first paint, and the PDP of the page takes over once it is loaded.

import type { ReactNode } from "react";
import type { Pdp, Principal, Resource } from "wardgate";
import { Can, useDecision, useFilter, WardgateProvider, type LazyPdp, type PageDecisions } from "wardgate/react";
import { decide } from "wardgate/view";

export interface Album {
  readonly id: string;
  readonly owner: string;
}

const resourceOf = (album: Album): Resource => ({ kind: "album", id: album.id, attr: album });

// On the server. The answer is JSON without attributes, and goes to the page with its other data.
export function decisionsFor(pdp: Pdp, principal: Principal, albums: readonly Album[]): PageDecisions {
  const questions = albums.flatMap((album) => ["view", "edit"].map((action) => ({ action, resource: resourceOf(album) })));
  return decide(pdp, principal, questions);
}

export interface PageProps {
  readonly albums: readonly Album[];
  readonly principal: Principal | null;
  readonly decisions?: PageDecisions;
  // Such as `() => import("./pdp.ts").then(({ opened }) => opened)`: then the first paint needs no module.
  readonly pdp?: LazyPdp;
}

export function Page({ albums, principal, decisions, pdp }: PageProps): ReactNode {
  return (
    <WardgateProvider principal={principal} decisions={decisions} pdp={pdp}>
      <Albums albums={albums} />
    </WardgateProvider>
  );
}

function Albums({ albums }: { readonly albums: readonly Album[] }): ReactNode {
  const { state, rows } = useFilter("view", albums, resourceOf);
  if (state === "loading") return <p>one moment</p>;
  return rows.map((album) => (
    <section key={album.id}>
      <Can action="edit" resource={resourceOf(album)} loading={<i>…</i>} fallback="look only">
        <button>edit</button>
      </Can>
      <Hint album={album} />
    </section>
  ));
}

function Hint({ album }: { readonly album: Album }): ReactNode {
  const decision = useDecision("edit", resourceOf(album));
  return decision.state === "denied" ? <small>by {album.owner}</small> : null;
}
