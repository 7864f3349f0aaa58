// The store of a log in a bucket of R2, whose reads see every write that ended before.

import type { LogStore, PutCondition, StoredObject } from "wardgate/log-sequencer";

/** Returns a bucket as a store. */
export function bucketStore(bucket: R2Bucket): LogStore {
  return {
    async get(name): Promise<StoredObject | undefined> {
      const object = await bucket.get(name);
      if (object === null) return undefined;
      return { bytes: new Uint8Array(await object.arrayBuffer()), tag: object.etag };
    },
    async put(name, bytes, condition): Promise<string | undefined> {
      const written = await bucket.put(name, bytes, onlyIf(condition));
      return written?.etag;
    },
    async delete(names): Promise<void> {
      for (let at = 0; at < names.length; at += MOST_DELETED) await bucket.delete(names.slice(at, at + MOST_DELETED));
    },
  };
}

function onlyIf(condition: PutCondition): R2PutOptions {
  switch (condition.kind) {
    case "always":
      return {};
    case "new":
      return { onlyIf: new Headers({ "If-None-Match": "*" }) };
    case "unchanged":
      return { onlyIf: { etagMatches: condition.tag } };
  }
}

/** R2 deletes so many objects by one call. */
const MOST_DELETED = 1000;
