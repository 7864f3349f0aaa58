// `wardgate/wasm` for edge runtimes whose bundlers compile an import with `?module`.

export { default } from "../../../wasm/wardgate_bg.wasm?module";
