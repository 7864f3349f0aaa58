import { bigint, boolean, jsonb, pgTable, text, timestamp } from "drizzle-orm/pg-core";
import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

const albums = pgTable("albums", {
  id: text().primaryKey(),
  owner: text().notNull(),
  title: text(),
  shared: boolean().notNull().default(false),
  views: bigint({ mode: "bigint" }).notNull(),
  createdAt: timestamp().notNull(),
  meta: jsonb().$type<{ rating: number }>(),
});

type Album = typeof albums.$inferSelect;
type NewAlbum = typeof albums.$inferInsert;

export function decide(pdp: Pdp): boolean {
  const row: Album = { id: "a1", owner: "ada", title: null, shared: false, views: 9n, createdAt: new Date(0), meta: { rating: 5 } };
  const made: NewAlbum = { id: "a2", owner: "bo", views: 0n, createdAt: new Date(0) };
  const mayEdit = (attr: Album | NewAlbum): boolean => pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: attr.id, attr } });
  return mayEdit(row) && !mayEdit(made);
}
