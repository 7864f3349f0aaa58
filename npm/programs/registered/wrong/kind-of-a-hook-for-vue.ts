import { useDecision } from "wardgate/vue";
import type {} from "../registration.d.ts";

// TS2820
export const decision = () => useDecision("view", { kind: "albun", id: "a1" });
