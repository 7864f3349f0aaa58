// An index of the rules of policies that an editor keeps, in an instance of its own.
//
// The files stay here too: after a trap another instance makes the index of them again.

import type { Diagnostic } from "../compiler/diagnostic.ts";
import { readFile, type FileContents } from "../compiler/policy-files.ts";
import { diagnosticsOf, type Answer, type AnalysisInstance, type CallName, type Head, type ModuleFile } from "./analysis-abi.ts";
import { startAgain } from "./analysis-module.ts";
import { readKinds, readQuery, readTop, type SimilarQuery } from "./analysis-options.ts";
import type { RuleGroup, RuleGroupKind, SimilarRules } from "./analysis-types.ts";
import { WardgateError } from "../base/errors.ts";

/** The answer of `similar`. */
export interface Similar {
  /** The rules of the question, each with the rules that are most like it; absent if a diagnostic is an error. */
  readonly rules?: readonly SimilarRules[];
  /** The errors in the policies or in the draft. */
  readonly diagnostics: readonly Diagnostic[];
}

/** An index of the rules of policies. It needs no disposal: its memory ends with it. */
export interface PolicyIndex {
  /**
   * Replaces the contents of a file, or takes a new one, and returns the errors of the file and of those that import from it. With an
   * error the index stays as it was. A file without a policy, such as an empty one, takes its policies away.
   *
   * What is wrong among files, such as a policy that two of them define, is found by `lint` of `wardgate/compiler` and not here.
   *
   * @throws TypeError if the path or the contents have the wrong kind.
   * @throws WardgateError with the code `internal` if the module fails; the next call works in a fresh instance, with the
   * files as they were.
   */
  replace(path: string, contents: FileContents): readonly Diagnostic[];
  /**
   * Returns the rules that are most like those of a policy or a draft, at most `top` for each, from 1 to 1000. Default: 10.
   *
   * @throws TypeError if an argument has the wrong kind.
   * @throws RangeError if there is no such policy or rule, the draft holds no policy, or `top` is out of range.
   * @throws WardgateError as for {@link PolicyIndex.replace}.
   */
  similar(query: SimilarQuery, top?: number): Similar;
  /**
   * Returns groups of rules that could be one, those first that save most; only those of some kinds, if kinds are given.
   *
   * @throws TypeError or RangeError for other kinds.
   * @throws WardgateError as for {@link PolicyIndex.replace}.
   */
  groups(only?: readonly RuleGroupKind[]): readonly RuleGroup[];
}

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
  return { rules: JSON.parse(answer.json) as readonly SimilarRules[], diagnostics: [] };
}
