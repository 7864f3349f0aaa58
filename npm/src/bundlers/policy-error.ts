// An error in policies, with the place where a bundler shows it.

import { join } from "node:path";

import type { Diagnostic } from "../compiler/diagnostic.ts";

/** A place in a file; line and column count from 1. */
export interface Place {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

/** An error in a folder of policies. Its message has the place of each error, for bundlers that show no more than a message. */
export class PolicyError extends Error {
  /** The place of the first error: a cause, where others follow from it. */
  readonly place: Place | undefined;
  /** The line of that error, with a caret below the column. */
  readonly frame: string | undefined;

  constructor(message: string, place?: Place, frame?: string) {
    super(message);
    this.name = "PolicyError";
    this.place = place;
    this.frame = frame;
    // Where this program found the error tells its reader nothing.
    this.stack = `${this.name}: ${message}`;
  }
}

/** Returns the error for a folder whose policies do not compile. */
export function errorOf(folder: string, diagnostics: readonly Diagnostic[]): PolicyError {
  const sorted = causesFirst(diagnostics);
  const lines = sorted.slice(0, MOST_SHOWN).map((diagnostic) => `${placeText(folder, diagnostic)}: ${sentence(diagnostic)} [${diagnostic.code}]`);
  const hidden = sorted.length - lines.length;
  const [first] = sorted;
  return new PolicyError(
    [...lines, ...(hidden > 0 ? [`and ${hidden} more`] : [])].join("\n"),
    first && placeOf(folder, first),
    first?.text.split("\n").slice(1).join("\n"),
  );
}

/**
 * Returns the diagnostics with causes before their consequences: a file that cannot be read defines nothing, so that others
 * miss its names. Otherwise they keep their order, by file and line.
 */
function causesFirst(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const rank = ({ code }: Diagnostic): number => (USES.has(code) ? 2 : LINKS.has(code) ? 1 : 0);
  return [...diagnostics].sort((a, b) => rank(a) - rank(b));
}

/** Codes of files that name another one which is missing. */
const LINKS: ReadonlySet<Diagnostic["code"]> = new Set(["missing-ancestor", "missing-import"]);

/** Codes of uses of a name that no file defines. */
const USES: ReadonlySet<Diagnostic["code"]> = new Set(["no-policies", "undefined-constant", "undefined-variable", "unknown-derived-role"]);

/** Returns the message with the text that the compiler expected, and the one that it found; both are in backticks already. */
function sentence({ message, expected, found }: Diagnostic): string {
  const parts = [...(expected === undefined ? [] : [`expected ${expected}`]), ...(found === undefined ? [] : [`found ${found}`])];
  return parts.length === 0 ? message : `${message}: ${parts.join(", ")}`;
}

function placeText(folder: string, { file, line, column }: Diagnostic): string {
  return [pathOf(folder, file), line, column].filter((part) => part !== undefined).join(":");
}

function placeOf(folder: string, { file, line, column }: Diagnostic): Place {
  return { file: pathOf(folder, file), ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
}

function pathOf(folder: string, file: string): string {
  return join(folder, file === "." ? "" : file);
}

/** A screen of errors. */
const MOST_SHOWN = 20;
