// `wardgate/wasm` for workerd: its bundler recognises a module by the ending of the imported name.

export { default } from "../../../wasm/wardgate_bg.wasm";
