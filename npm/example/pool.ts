// A large batch, decided by workers.

import type { PublicJwk, Resource } from "wardgate";
import { createPool } from "wardgate/pool";

export async function editable(bundle: Uint8Array, trust: PublicJwk, albums: Resource[]): Promise<Resource[]> {
  using pool = await createPool(bundle, { trust, size: 2 });
  const ada = { id: "ada", roles: ["user"] };
  return await pool.filter({ principal: ada, action: "edit", resources: albums });
}
