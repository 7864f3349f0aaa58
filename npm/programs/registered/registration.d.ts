import type { Policies } from "../policies.d.ts";

declare module "wardgate" {
  interface Registered {
    policies: Policies;
  }
}
