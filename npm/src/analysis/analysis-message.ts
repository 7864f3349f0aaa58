// The parts of a message to the module of analysis.

/** The head of a message: the mirror of `crates/analysis-wasm/src/options.rs`. */
export interface Head {
  readonly [name: string]: string | number | boolean | readonly string[];
}

/** A file of a message. */
export type ModuleFile = readonly [path: string, contents: Uint8Array];
