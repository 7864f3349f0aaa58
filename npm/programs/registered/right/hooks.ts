import { useCan, useFilter } from "wardgate/react";
import { useDecision } from "wardgate/vue";
import type {} from "../registration.d.ts";

interface Row {
  readonly id: string;
  readonly owner: string | null;
}

export function Page({ rows }: { readonly rows: readonly Row[] }): string {
  const visible = useFilter("view", rows, (row) => ({ kind: "album", id: row.id, attr: row }));
  const mayArchive = useCan("archive", { kind: "document", id: "d1", attr: { author: "ada", state: "draft" } });
  return `${visible.rows.length} ${mayArchive}`;
}

export const decision = () => useDecision("download:cover", { kind: "album", id: "a1" });
