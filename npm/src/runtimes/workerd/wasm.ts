// `wardgate/wasm` for workers: their bundler knows a module by the ending of the name that is imported.

export { default } from "../../../wasm/wardgate_bg.wasm";
