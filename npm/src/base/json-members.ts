// Finds repeated members in the text of a JSON object.
//
// `JSON.parse` keeps the last of two members with one name, other readers the first: a gateway that
// checks a request with one reader and decides it with another would decide something else. The
// search is one walk through the text, without recursion.

/** A fault in the text: a repeated member, or nesting deeper than the limit. */
export type Fault = { readonly kind: "doubled"; readonly name: string } | { readonly kind: "deep" };

/** Returns the first fault of a JSON text. It does not validate the syntax; `JSON.parse` does. */
export function faultIn(text: string, maxDepth: number): Fault | undefined {
  const open: (Names | undefined)[] = [];
  let names: Names | undefined;
  let isName = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at + 1);
        if (isName && names?.add(text.slice(at, end + 1)) === false) {
          return { kind: "doubled", name: nameOf(text.slice(at, end + 1)) };
        }
        isName = false;
        at = end;
        break;
      }
      case OPENING_BRACE:
      case OPENING_BRACKET:
        if (open.length === maxDepth) return { kind: "deep" };
        isName = text.charCodeAt(at) === OPENING_BRACE;
        names = isName ? new Names() : undefined;
        open.push(names);
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        open.pop();
        names = open.at(-1);
        isName = false;
        break;
      case COMMA:
        isName = names !== undefined;
    }
  }
  return undefined;
}

/** The names of one object. Most objects have few, and scanning a list is faster than a set. */
class Names {
  readonly #few: string[] = [];
  #many: Set<string> | undefined;

  /** Returns false if the name was added before, in any spelling. */
  add(token: string): boolean {
    const name = nameOf(token);
    if (this.#many !== undefined) {
      const { size } = this.#many;
      return this.#many.add(name).size > size;
    }
    if (this.#few.includes(name)) return false;
    if (this.#few.push(name) === FEW) this.#many = new Set(this.#few);
    return true;
  }
}

/** Returns the position of the quote that ends a string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (before > start && text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if (((at - before) & 1) === 0) return at;
  }
  return text.length;
}

/** Returns the name that a quoted token stands for, or the token if it is malformed. */
function nameOf(token: string): string {
  if (!token.includes("\\")) return token.slice(1, -1);
  try {
    return JSON.parse(token) as string;
  } catch {
    return token;
  }
}

const FEW = 8;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
