// Every row by name. A rival that is not installed is left out and named on standard error.

/** Makes the rows called `name`. */
export async function rowsOf(name, job) {
  const make = await MAKERS[name]().catch((error) => {
    if (name === "wardgate" || error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    process.stderr.write(`${name} is left out: run \`npm ci\` in host-bench/node\n`);
    return () => [];
  });
  return make(job);
}

const MAKERS = {
  wardgate: async () => (await import("./rows/wardgate.mjs")).wardgate,
  floor: async () => (await import("./rows/floor.mjs")).floor,
  casl: async () => (await import("./rows/casl.mjs")).casl,
  casbin: async () => (await import("./rows/casbin.mjs")).casbin,
  opa: async () => (await import("./rows/opa.mjs")).opa,
  cedar: async () => (await import("./rows/cedar.mjs")).cedar,
};
