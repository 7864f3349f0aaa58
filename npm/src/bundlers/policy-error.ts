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
  /** The place of the first error. */
  readonly place: Place | undefined;
  /** The line of the first error, with a caret below the column. */
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
  const lines = diagnostics.slice(0, MOST_SHOWN).map((diagnostic) => `${placeText(folder, diagnostic)}: ${sentence(diagnostic)} [${diagnostic.code}]`);
  const hidden = diagnostics.length - lines.length;
  const [first] = diagnostics;
  return new PolicyError(
    [...lines, ...(hidden > 0 ? [`and ${hidden} more`] : [])].join("\n"),
    first && placeOf(folder, first),
    first?.text.split("\n").slice(1).join("\n"),
  );
}

/** Returns the message with the text that the compiler found. */
function sentence({ message, found }: Diagnostic): string {
  return found === undefined ? message : `${message}: found \`${found}\``;
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
