// Imports the module of MQTT, for edge runtimes whose bundlers compile an import with `?module`.

import module from "../../../wasm/wardgate_mqtt_bg.wasm?module";

import type { EagerLoader } from "../../wasm/loader.ts";

export const loader: EagerLoader = {
  load() {
    return Promise.resolve(module);
  },
  loadNow() {
    return module;
  },
};
