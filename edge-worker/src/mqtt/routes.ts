// The ways from topics to readers: subscriptions, alone and shared.

import { mqtt, type Filters, type Subscription } from "wardgate/mqtt";

import type { StoredSubscription } from "./store.ts";
import type { Place, Session } from "./session.ts";

/** The value of a filter in the set. */
export type Route = Target | Group;

/** A subscription of one client. */
export interface Target {
  readonly kind: "target";
  readonly session: Session;
  /** The subscription identifier; 0 for none. */
  readonly identifier: number;
  readonly noLocal: boolean;
  readonly retainAsPublished: boolean;
}

/** A shared subscription: one of its members gets each message. */
interface Group {
  readonly kind: "group";
  /** Its filter in the set. */
  readonly id: number;
  readonly members: Target[];
  /** The member whose turn it is. */
  next: number;
}

/** The readers of a message. */
export interface Readers {
  /** The subscriptions of each reader. */
  readonly alone: ReadonlyMap<Session, readonly Target[]>;
  /** The chosen members of groups. A reader may be in both. */
  readonly shared: readonly Target[];
}

export class Routes {
  readonly #filters: Filters<Route> = mqtt.filters<Route>();
  readonly #groups = new Map<string, Group>();
  #count = 0;

  /** The number of subscriptions. */
  get count(): number {
    return this.#count;
  }

  /**
   * Adds a subscription, or replaces that of the same filter.
   *
   * @throws WardgateError if the set is full; nothing has changed then.
   */
  add(session: Session, { filter, options, identifier }: Omit<StoredSubscription, "session">): void {
    const { noLocal, retainAsPublished } = optionsOf(filter, options);
    const target: Target = { kind: "target", session, identifier, noLocal, retainAsPublished };
    const place = isShared(filter) ? this.#join(filter, target) : this.#alone(filter, target);
    const known = session.subscriptions.get(filter);
    if (known?.kind === "alone") this.#filters.remove(known.id);
    if (known === undefined) this.#count += 1;
    session.subscriptions.set(filter, place);
  }

  /** Removes a subscription. Returns false if there is none. */
  remove(session: Session, filter: string): boolean {
    const place = session.subscriptions.get(filter);
    if (place === undefined) return false;
    if (place.kind === "alone") this.#filters.remove(place.id);
    else this.#part(place.name, session);
    session.subscriptions.delete(filter);
    this.#count -= 1;
    return true;
  }

  removeAll(session: Session): void {
    for (const filter of [...session.subscriptions.keys()]) this.remove(session, filter);
  }

  /** Returns the readers of a topic, for a message of one of the sessions or of none. */
  readers(topic: string, from: Session | undefined): Readers {
    const alone = new Map<Session, Target[]>();
    const shared: Target[] = [];
    for (const route of this.#filters.match(topic)) {
      if (route.kind === "group") shared.push(turn(route));
      else if (!(route.noLocal && route.session === from)) {
        const others = alone.get(route.session);
        if (others === undefined) alone.set(route.session, [route]);
        else others.push(route);
      }
    }
    return { alone, shared };
  }

  dispose(): void {
    this.#filters.dispose();
  }

  #alone(filter: string, target: Target): Place {
    return { kind: "alone", id: this.#filters.add(filter, target) };
  }

  #join(name: string, target: Target): Place {
    let group = this.#groups.get(name);
    if (group === undefined) {
      const members: Target[] = [];
      // The number is known once the filter is in the set, whose value is the group.
      const made = { kind: "group", id: 0, members, next: 0 } satisfies Group;
      made.id = this.#filters.add(name, made);
      group = made;
      this.#groups.set(name, group);
    }
    const at = group.members.findIndex(({ session }) => session === target.session);
    if (at < 0) group.members.push(target);
    else group.members[at] = target;
    return { kind: "group", name };
  }

  #part(name: string, session: Session): void {
    const group = this.#groups.get(name);
    const at = group?.members.findIndex((member) => member.session === session) ?? -1;
    if (group === undefined || at < 0) return;
    group.members.splice(at, 1);
    // The turn stays with the member that had it.
    if (at < group.next) group.next -= 1;
    if (group.members.length > 0) return;
    this.#groups.delete(name);
    this.#filters.remove(group.id);
  }
}

/** Returns the options of a subscription as one byte (5.0, section 3.8.3.1). */
export function optionsByte({ qos, noLocal, retainAsPublished, retainHandling }: Subscription): number {
  return qos | (noLocal ? 4 : 0) | (retainAsPublished ? 8 : 0) | (retainHandling << 4);
}

export function optionsOf(filter: string, byte: number): Subscription {
  return {
    filter,
    qos: (byte & 3) as Subscription["qos"],
    noLocal: (byte & 4) !== 0,
    retainAsPublished: (byte & 8) !== 0,
    retainHandling: (byte >> 4) as Subscription["retainHandling"],
  };
}

export function isShared(filter: string): boolean {
  return filter.startsWith(SHARE);
}

/** Returns the member of a group whose turn it is. A group has at least one. */
function turn(group: Group): Target {
  const at = group.next % group.members.length;
  group.next = at + 1;
  return group.members[at]!;
}

const SHARE = "$share/";
