// Views of a page whose parts change and whose PDP may come later, for frameworks with signals.
//
// It loads the PDP once the page is shown, and never on a server. Until then decisions of the server come first,
// so that the page comes to life as it was painted.

import { loadedNow, report, View, whenLoaded, type Difference, type LazyPdp, type PageParts, type Shown } from "./view.ts";
import type { Pdp } from "../pdp/types.ts";

interface LatePdp {
  readonly lazy: LazyPdp;
  pdp: Pdp | null | undefined;
}

/** Makes the views of a part of a page. */
export class ViewSource {
  readonly #notify: () => void;
  #isStarted = false;
  #parts: PageParts | undefined;
  #view: View | undefined;
  #told = new Set<string>();
  /** The PDP of the view; `null` if it could not be loaded. */
  #pdp: Pdp | null | undefined;
  /** The last PDP that was loaded, or is being loaded. */
  #late: LatePdp | undefined;
  #followed: Pdp | null | undefined;
  #unfollow = (): void => {};

  /** `notify` is called when `viewOf` returns another view for the same parts. */
  constructor(notify: () => void) {
    this.#notify = () => {
      this.#view = undefined;
      notify();
    };
  }

  /** Returns the view of these parts: the same one until they or the policies change. */
  viewOf(parts: PageParts): View {
    const before = this.#parts;
    this.#parts = parts;
    const pdp = this.#isStarted ? this.#follow(parts.pdp) : waitingFor(parts.pdp);
    if (before?.decisions !== parts.decisions) this.#told = new Set();
    if (this.#view === undefined || pdp !== this.#pdp || MEMBERS.some((name) => before?.[name] !== parts[name])) {
      this.#pdp = pdp;
      const isFirst = !this.#isStarted && !!parts.decisions;
      this.#view = new View({ ...parts, pdp, isFinal: pdp === null, isFirst, onDifference: parts.onDifference && this.#onDifference }, this.#told);
    }
    return this.#view;
  }

  /** Loads the PDP and follows its reloads. Call it when the page is shown. */
  start(): void {
    this.#isStarted = true;
    if (this.#parts === undefined) return;
    this.#follow(this.#parts.pdp);
    // Without decisions of the server, and without a PDP, the first paint is right.
    if (this.#parts.decisions && this.#pdp) this.#notify();
  }

  /** Ends that. */
  end(): void {
    this.#isStarted = false;
    this.#late = undefined;
    this.#follow(undefined);
  }

  /** Calls the listener later: views answer within computed values, where frameworks let no program change its state. */
  readonly #onDifference = (difference: Difference): void => queueMicrotask(() => this.#parts?.onDifference?.(difference));

  #follow(lazy: LazyPdp | null | undefined): Pdp | null | undefined {
    const pdp = loadedNow(lazy) ?? (lazy ? this.#load(lazy) : undefined);
    if (pdp === this.#followed) return pdp;
    this.#unfollow();
    this.#followed = pdp;
    this.#unfollow = pdp?.onReload(this.#notify) ?? (() => {});
    return pdp;
  }

  #load(lazy: LazyPdp): Pdp | null | undefined {
    if (this.#late?.lazy === lazy) return this.#late.pdp;
    const late: LatePdp = { lazy, pdp: undefined };
    this.#late = late;
    whenLoaded(lazy, (pdp, error) => {
      if (late !== this.#late) return;
      late.pdp = pdp;
      this.#notify();
      if (pdp === null) (this.#parts?.onError ?? report)(error);
    });
    return undefined;
  }
}

/** Returns the PDP if it is there already, before the page is shown. A promise may fail until then: `start` says so. */
function waitingFor(lazy: LazyPdp | null | undefined): Pdp | undefined {
  if (lazy && "then" in lazy) lazy.then(undefined, () => {});
  return loadedNow(lazy);
}

/** Returns true if nothing that a page shows has changed. */
export function isSame(before: Shown | undefined, found: Shown): boolean {
  return JSON.stringify(before) === JSON.stringify(found);
}

/** The parts that make another view. Callbacks are not: programs often write them anew. */
const MEMBERS = ["principal", "auxData", "decisions"] as const;
