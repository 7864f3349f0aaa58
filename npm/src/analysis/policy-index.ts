// An index of the rules of policies that an editor keeps, in an instance of its own.
//
// The files stay here too: after a trap another instance makes the index of them again.

import type { Diagnostic } from "../compiler/diagnostic.ts";
import { readFile, type FileContents } from "../compiler/policy-files.ts";
import { diagnosticsOf, type Answer, type AnalysisInstance, type CallName } from "./analysis-abi.ts";
import type { Head, ModuleFile } from "./analysis-message.ts";
import { startAgain } from "./analysis-module.ts";
import { readKinds, readQuery, readTop, type SimilarQuery } from "./analysis-options.ts";
import type { PolicyIndex, RuleGroup, RuleGroupKind, Similar, SimilarPolicy, SimilarRules } from "./analysis-types.ts";
import { WardgateError } from "../base/errors.ts";

export class OpenedIndex implements PolicyIndex {
  #instance: AnalysisInstance;
  readonly #files: Map<string, Uint8Array>;
  readonly #options: Head;

  /** Takes an instance with an index of some files. */
  constructor(instance: AnalysisInstance, files: readonly ModuleFile[], options: Head) {
    this.#instance = instance;
    this.#files = new Map(files);
    this.#options = options;
  }

  replace(path: string, contents: FileContents): readonly Diagnostic[] {
    const file = readFile(path, contents);
    const diagnostics = diagnosticsOf(this.#call("replace", {}, [file]));
    if (diagnostics.length === 0) this.#files.set(...(file as [string, Uint8Array]));
    return diagnostics;
  }

  similar(query: SimilarQuery, top?: number): Similar {
    const { head, files } = readQuery(query, readTop(top));
    return similarOf(this.#call("similar", head, files));
  }

  groups(only?: readonly RuleGroupKind[]): readonly RuleGroup[] {
    return JSON.parse(this.#call("groups", { only: readKinds(only) }, []).json) as readonly RuleGroup[];
  }

  #call(name: CallName, head: Head, files: readonly ModuleFile[]): Answer {
    if (this.#instance.isLost) this.#restart();
    return this.#instance.call(name, head, files);
  }

  #restart(): void {
    const instance = startAgain();
    if (instance.call("open", this.#options, [...this.#files]).kind === "answer") {
      this.#instance = instance;
      return;
    }
    // Files that were replaced one by one may disagree with each other, which `replace` does not look for.
    throw new WardgateError("internal", "the module of analysis failed, and its policies do not compile together");
  }
}

/** Reads the answer of `similar`. */
export function similarOf(answer: Answer): Similar {
  if (answer.kind === "diagnostics") return { diagnostics: diagnosticsOf(answer) };
  const { policies, rules } = JSON.parse(answer.json) as { readonly policies: readonly SimilarPolicy[]; readonly rules: readonly SimilarRules[] };
  return { policies, rules, diagnostics: [] };
}
