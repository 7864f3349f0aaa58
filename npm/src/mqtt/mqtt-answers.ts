// Answers about messages of one client, by topic: the counterpart of `crates/server/src/mqtt/answers.rs`.
//
// An answer is kept where the fast path that decides reads nothing of a message but its topic, and no
// time. Each bundle has fast paths of its own, so answers hold for the fast path that they were
// kept with.

import type { DecidingPath } from "../pdp/prepared.ts";
import { NOW } from "../wasm/frame.ts";

export class TopicAnswers {
  readonly #known = new Map<string, boolean>();
  #path: DecidingPath | null = null;
  #isByTopic = false;

  /** Returns the answer of a fast path about a topic. */
  find(path: DecidingPath | null, topic: string): boolean | undefined {
    if (path !== this.#path) this.#begin(path);
    return this.#known.get(topic);
  }

  /** Keeps an answer of the fast path of the last `find`, if it depends on the topic alone. */
  keep(topic: string, isAllowed: boolean): void {
    if (!this.#isByTopic || topic.length > MAX_TOPIC) return;
    // Topics in use come again soon, so all places are given up at once: no order is kept.
    if (this.#known.size === MAX_ANSWERS) this.#known.clear();
    this.#known.set(topic, isAllowed);
  }

  #begin(path: DecidingPath | null): void {
    this.#path = path;
    this.#known.clear();
    // The identifier of the resource is the topic too, and everything else belongs to the client.
    this.#isByTopic = path !== null && (path.flags & NOW) === 0 &&
      path.slots.every(({ root, path: [name] }) => root !== "resource.attr" || name === "topic");
  }
}

/** The bounds of one client and action: topics, and code units of a topic. */
const MAX_ANSWERS = 64;
const MAX_TOPIC = 256;
