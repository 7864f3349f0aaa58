// Albums in Angular, with its signals.

import { Component, inject, Injectable, Input, signal } from "@angular/core";
import type { Principal } from "wardgate";
import { injectDecision, injectFilter, provideWardgate, type LazyPdp, type PageDecisions } from "wardgate/angular";
import { resourceOf, type Album } from "./pages.ts";

@Injectable({ providedIn: "root" })
export class Session {
  readonly principal = signal<Principal | null | undefined>(undefined);
  readonly decisions = signal<PageDecisions | undefined>(undefined);
  // Such as `() => import("./pdp.ts").then(({ opened }) => opened)`: then the first paint needs no module.
  readonly pdp = signal<LazyPdp | undefined>(undefined);
  readonly albums = signal<readonly Album[]>([]);
}

// For `bootstrapApplication`.
export const providers = [
  provideWardgate(() => {
    const { principal, decisions, pdp } = inject(Session);
    return () => ({ principal: principal(), decisions: decisions(), pdp: pdp() });
  }),
];

@Component({
  selector: "album-card",
  template: `
    @switch (edit().state) {
      @case ("loading") { <i>…</i> }
      @case ("allowed") { <button>edit</button> }
      @case ("denied") { look only<small>by {{ album().owner }}</small> }
    }
  `,
})
export class AlbumCard {
  readonly album = signal<Album>({ id: "", owner: "" });
  readonly edit = injectDecision("edit", () => resourceOf(this.album()));

  @Input({ required: true, alias: "album" })
  set given(album: Album) {
    this.album.set(album);
  }
}

@Component({
  selector: "album-page",
  imports: [AlbumCard],
  template: `
    @if (visible().state === "loading") { <p>one moment</p> }
    @for (album of visible().rows; track album.id) { <section><album-card [album]="album" /></section> }
  `,
})
export class AlbumPage {
  readonly visible = injectFilter("view", inject(Session).albums, resourceOf);
}
