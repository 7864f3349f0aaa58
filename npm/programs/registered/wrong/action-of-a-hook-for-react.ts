import { useCan } from "wardgate/react";
import type {} from "../registration.d.ts";

// TS2345
export const Page = (): string => String(useCan("veiw", { kind: "album", id: "a1" }));
