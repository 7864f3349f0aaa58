// A row as the generator of Prisma types it: `Decimal`, `bigint`, `Date`, JSON and bytes.

import { Decimal } from "@prisma/client-runtime-utils";
import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

type JsonValue = string | number | boolean | { [key in string]?: JsonValue } | JsonValue[] | null;

type AlbumModel = {
  id: string;
  owner: string;
  price: Decimal;
  views: bigint;
  createdAt: Date;
  deletedAt: Date | null;
  labels: string[];
  meta: JsonValue | null;
  cover: Uint8Array;
};

type AlbumWithPhotos = { photos: { id: string; size: bigint }[] } & AlbumModel;

export function decide(pdp: Pdp): boolean {
  const row: AlbumWithPhotos = {
    id: "a1", owner: "ada", price: new Decimal("7.50"), views: 9n, createdAt: new Date(0), deletedAt: null, labels: ["sea"], meta: { rating: [5] },
    cover: new Uint8Array(2), photos: [],
  };
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: row.id, attr: row } });
}
