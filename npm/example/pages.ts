// Albums on pages of Svelte, Vue and Angular: their questions, and the answers that a server sends with a page.

import type { Pdp, Principal, Resource } from "wardgate";
import { decide, type PageDecisions } from "wardgate/view";

export interface Album {
  readonly id: string;
  readonly owner: string;
}

export const resourceOf = (album: Album): Resource => ({ kind: "album", id: album.id, attr: album });

// On the server. The answer is JSON without attributes, and goes to the page with its other data.
export function decisionsFor(pdp: Pdp, principal: Principal, albums: readonly Album[]): PageDecisions {
  const questions = albums.flatMap((album) => ["view", "edit"].map((action) => ({ action, resource: resourceOf(album) })));
  return decide(pdp, principal, questions);
}
