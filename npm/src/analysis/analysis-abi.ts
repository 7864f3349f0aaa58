// An instance of the module of analysis, the mirror of `crates/analysis-wasm/src/lib.rs`. It has one index at most.
//
// A message is a head of JSON and files, each part after its length. After a trap the instance must not be used again.

import type { Diagnostic } from "../compiler/diagnostic.ts";
import { WardgateError } from "../base/errors.ts";
import { BytesInstance, type BytesCalls } from "../wasm/bytes-instance.ts";
import { mismatchOf } from "../wasm/code.ts";
import type { Head, ModuleFile } from "./analysis-message.ts";

/** Returns the difference between a module and that of analysis; `undefined` if there is none. */
export function analysisMismatch(code: WebAssembly.Module): string | undefined {
  return mismatchOf(code, EXPORTS, () => false);
}

/** The answer as JSON, or the diagnostics as JSON for which there is none. */
export type Answer = { readonly kind: "answer"; readonly json: string } | { readonly kind: "diagnostics"; readonly json: string };

/** The name of a call with a message. */
export type CallName = "open" | "replace" | "similar" | "groups" | "analyze" | "compare";

export class AnalysisInstance extends BytesInstance<Calls> {
  constructor(module: WebAssembly.Module) {
    super(module, MAX_BUFFER_BYTES, "the module of analysis");
  }

  /** Sends a message, and returns its answer. */
  call(name: CallName, head: Head, files: readonly ModuleFile[]): Answer {
    const parts = [ENCODER.encode(JSON.stringify(head)), ...files.flatMap(([path, contents]) => [ENCODER.encode(path), contents])];
    const measured = parts.flatMap((part) => [lengthOf(part), part]);
    this.put(...measured);
    const length = measured.reduce((sum, part) => sum + part.length, 0);
    const status = this.called(() => this.calls[name](length));
    const text = new TextDecoder().decode(this.answer());
    switch (status) {
      case 0:
        return { kind: "answer", json: text };
      case 1:
        return { kind: "diagnostics", json: text };
      case 2:
        throw new RangeError(text);
      default:
        throw new WardgateError("internal", "the module of analysis refused a message of the package");
    }
  }
}

/** Returns the diagnostics of an answer; none if it is one. */
export function diagnosticsOf(answer: Answer): readonly Diagnostic[] {
  return answer.kind === "answer" ? [] : (JSON.parse(answer.json) as readonly Diagnostic[]);
}

function lengthOf(part: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, part.length, true);
  return bytes;
}

interface Calls extends BytesCalls {
  readonly open: (length: number) => number;
  readonly replace: (length: number) => number;
  readonly similar: (length: number) => number;
  readonly groups: (length: number) => number;
  readonly analyze: (length: number) => number;
  readonly compare: (length: number) => number;
}

const ENCODER = new TextEncoder();
/** The exports that identify the module. */
const EXPORTS = ["memory", "room", "words", "open", "replace", "similar", "groups", "analyze", "compare"];
/** The largest message: the module could not hold a larger one beside what it makes of it. */
const MAX_BUFFER_BYTES = 2 ** 30;
