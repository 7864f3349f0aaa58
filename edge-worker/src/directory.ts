// The index: the subjects and resources for searches, whose properties also replace missing
// properties of a request. It is one JSON list for each type, in KV.

import { AuthzenError, type Directory, type Entity } from "wardgate/authzen";

import { cut } from "./decision-log.ts";
import { NotReady } from "./policies.ts";
import { fromUtf8, readBounded } from "./text.ts";

/** A type of subjects or of resources. */
export interface EntityType {
  readonly side: "subject" | "resource";
  readonly type: string;
}

/** The lists of some types at one moment. */
export class Snapshot implements Directory {
  readonly #lists: ReadonlyMap<string, List>;

  constructor(lists: ReadonlyMap<string, List>) {
    this.#lists = lists;
  }

  subject(type: string, id: string): Entity["properties"] {
    return this.#lists.get(keyOf({ side: "subject", type }))?.byId.get(id);
  }

  resource(type: string, id: string): Entity["properties"] {
    return this.#lists.get(keyOf({ side: "resource", type }))?.byId.get(id);
  }

  /** Returns the entities of one type, in the order of the index. */
  all(entityType: EntityType): readonly Entity[] {
    return this.#lists.get(keyOf(entityType))?.entities ?? [];
  }
}

export class Index {
  readonly #kv: KVNamespace;
  readonly #refreshMilliseconds: number;
  // INVARIANT: at most MAX_TYPES lists, the one that was read first goes first.
  readonly #lists = new Map<string, { readonly list: List; readonly read: number }>();

  constructor(kv: KVNamespace, refreshMilliseconds: number) {
    this.#kv = kv;
    this.#refreshMilliseconds = refreshMilliseconds;
  }

  /**
   * Reads the lists of some types. A list that was read before is used until its refresh time; then
   * it is read again after the response. If a list cannot be read for the first time the request
   * fails: without properties in conditions, a principal might be allowed by mistake.
   */
  async snapshot(needed: readonly EntityType[], context: Pick<ExecutionContext, "waitUntil">): Promise<Snapshot> {
    const keys = new Set(needed.map(keyOf));
    if (keys.size > MAX_TYPES) throw new AuthzenError(`a request must name at most ${MAX_TYPES} types`);
    const lists = [...keys].map(async (key) => [key, await this.#list(key, context)] as const);
    return new Snapshot(new Map(await Promise.all(lists)));
  }

  async #list(key: string, context: Pick<ExecutionContext, "waitUntil">): Promise<List> {
    const known = this.#lists.get(key);
    if (known === undefined) return this.#read(key);
    if (Date.now() - known.read >= this.#refreshMilliseconds) {
      // Other requests in the meantime, or after a failure, do not read it again.
      this.#lists.set(key, { list: known.list, read: Date.now() });
      context.waitUntil(this.#read(key).catch((thrown: unknown) => console.error(String(thrown))));
    }
    return known.list;
  }

  async #read(key: string): Promise<List> {
    const list = await this.#fetch(key);
    this.#lists.delete(key);
    this.#lists.set(key, { list, read: Date.now() });
    const oldest = this.#lists.keys().next().value;
    if (this.#lists.size > MAX_TYPES && oldest !== undefined) this.#lists.delete(oldest);
    return list;
  }

  async #fetch(key: string): Promise<List> {
    // KV has no keys of this length.
    if (new TextEncoder().encode(key).length > MAX_KEY_BYTES) return EMPTY;
    try {
      const stream = await this.#kv.get(key, "stream");
      return stream === null ? EMPTY : readList(key, await readBounded(stream, MAX_INDEX_BYTES));
    } catch (thrown) {
      throw new NotReady(`the index \`${key}\` cannot be read: ${String(thrown)}`);
    }
  }
}

interface List {
  readonly entities: readonly Entity[];
  readonly byId: ReadonlyMap<string, Entity["properties"]>;
}

function readList(key: string, bytes: Uint8Array): List {
  const type = key.slice(key.indexOf("/") + 1);
  const items: unknown = JSON.parse(fromUtf8(bytes));
  if (!Array.isArray(items)) throw new Error("it is not a list");
  if (items.length > MAX_ENTITIES) throw new Error(`it has ${items.length} entities, at most ${MAX_ENTITIES} are read`);
  const entities = items.map((item: unknown) => readEntity(item, type));
  const byId = new Map<string, Entity["properties"]>();
  for (const { id, properties } of entities) {
    if (byId.has(id)) throw new Error(`duplicate id \`${cut(id)}\``);
    byId.set(id, properties ?? {});
  }
  return { entities, byId };
}

function readEntity(item: unknown, type: string): Entity {
  const { id, properties = {} } = (item ?? {}) as { readonly [name: string]: unknown };
  if (typeof id !== "string") throw new Error("the `id` of an entry must be a string");
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) {
    throw new Error(`the \`properties\` of \`${id}\` must be an object`);
  }
  return { type, id, properties: properties as NonNullable<Entity["properties"]> };
}

function keyOf({ side, type }: EntityType): string {
  return `${side}/${type}`;
}

const EMPTY: List = { entities: [], byId: new Map() };
const MAX_TYPES = 32;
const MAX_ENTITIES = 50_000;
const MAX_INDEX_BYTES = 8 * 2 ** 20;
const MAX_KEY_BYTES = 512;
