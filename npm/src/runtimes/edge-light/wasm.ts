// `wardgate/wasm` for edge runtimes whose bundlers import a module that was compiled by this name.

export { default } from "../../../wasm/wardgate_bg.wasm?module";
