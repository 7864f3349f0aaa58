import { open } from "wardgate";
// TS2769
await open(new Uint8Array(), {});
