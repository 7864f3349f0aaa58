import { fileURLToPath } from "node:url";

import { withWardgate } from "wardgate/webpack";

// The packages are in a folder above the app.
export default withWardgate({ output: process.env.NEXT_OUTPUT || undefined, devIndicators: false, turbopack: { root: fileURLToPath(new URL("../..", import.meta.url)) } });
