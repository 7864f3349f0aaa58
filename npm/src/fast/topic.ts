// `matchesTopic` of one topic of MQTT, where its text is.
//
// Filters, which stand for many topics, are for the general path, and so is every text that is no
// topic name. The mirror of `crates/native/src/fast/topic.rs`.

/** The levels of a pattern; a number is that of the term whose text is the level. */
export type Pattern = readonly (string | number)[];

/**
 * Returns the levels of a constant pattern; `null` if only the general path may read it. Where it is
 * filled, each level `{}` is the next term.
 */
export function patternOf(text: unknown, isFilled: boolean): Pattern | null {
  if (typeof text !== "string" || !isUsual(text)) return null;
  const levels = text.split("/");
  const isMisplaced = (level: string, at: number): boolean =>
    (level.includes("+") && level !== "+") || (level.includes("#") && (level !== "#" || at !== levels.length - 1));
  if (levels.some(isMisplaced)) return null;
  let term = 0;
  return levels.map((level) => (isFilled && level === "{}" ? (term += 1) : level));
}

/** Returns true if a text is a topic name, and one that the fast path reads. */
export function isTopic(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > MAX_TOPIC) return false;
  let levels = 1;
  for (let at = 0; at < length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === SLASH) levels += 1;
    else if (unit === PLUS || unit === HASH || unit === 0 || (unit & SURROGATES) === SURROGATE) return false;
  }
  return levels <= MAX_LEVELS;
}

/** Returns true if a text may be the level of a pattern with this number. */
export function isLevel(text: string, level: number): boolean {
  return isTopic(text) && !text.includes("/") && (level > 0 || text.charCodeAt(0) !== DOLLAR);
}

/** Returns true if a pattern matches a topic; `words` are the texts of its terms. */
export function isMatched(pattern: Pattern, topic: string, words: readonly string[]): boolean {
  const { length } = topic;
  const last = pattern.length - 1;
  let start = 0;
  for (let at = 0; at <= last; at += 1) {
    const level = pattern[at]!;
    // A wildcard at the front matches no internal topic.
    if (level === "#") return at > 0 || topic.charCodeAt(0) !== DOLLAR;
    if (start > length) return false;
    let end = topic.indexOf("/", start);
    if (end < 0) end = length;
    if (level === "+") {
      if (at === 0 && topic.charCodeAt(0) === DOLLAR) return false;
    } else {
      const word = typeof level === "number" ? words[level]! : level;
      if (end - start !== word.length || !topic.startsWith(word, start)) return false;
    }
    start = end + 1;
  }
  return start > length;
}

const isUsual = (text: string): boolean => isTopic(text.replaceAll(/[+#]/g, "w"));

const SLASH = 0x2f;
const PLUS = 0x2b;
const HASH = 0x23;
const DOLLAR = 0x24;
/** Code units of surrogates: outside of the common plane, code units are no characters. */
const SURROGATES = 0xf800;
const SURROGATE = 0xd800;

/** The bounds: code units of a topic, a pattern or a word, and levels. */
const MAX_TOPIC = 256;
const MAX_LEVELS = 64;
