// Decisions from words: the mirror of `crates/engine/src/decide/coded.rs`.
//
// The texts of policies cross the border once, when an answer first names them. The objects equal
// those that `JSON.parse` makes of the canonical JSON, in the order of their members too.

import { wordAt, type Answer as Words } from "../wasm/abi.ts";
import type { Message } from "../wasm/request.ts";
import { Answer, answerOf, type DecisionData } from "./answer.ts";
import type { ActionDecision, Decision, Reason } from "./decision.ts";

/** The strings of a table, by the ids in answers. */
export class TableTexts {
  readonly #known = new Map<number, string>();
  readonly #read: (id: number) => string;

  /** `read` returns a string of the table. */
  constructor(read: (id: number) => string) {
    this.#read = read;
  }

  /** Returns the string of an id. */
  of(id: number): string {
    return this.#known.get(id) ?? this.#learn(id);
  }

  #learn(id: number): string {
    const text = this.#read(id);
    this.#known.set(id, text);
    return text;
  }
}

/** Returns the decision on a message. */
export function decisionOf(answer: Words, { requestId, resourceId, actions }: Message, texts: TableTexts): Decision {
  const { start, end, json } = answer;
  if (start === end) return answerOf(JSON.parse(json) as DecisionData);
  const roles = wordAt(start);
  const decided: { [action: string]: ActionDecision } = {};
  for (let at = start + 1 + roles; at < end; at += ACTION_WORDS) {
    const action = actions[wordAt(at)]!;
    const decision = actionDecision(at, texts);
    if (action !== "__proto__") decided[action] = decision;
    else Object.defineProperty(decided, action, { value: decision, configurable: true, enumerable: true, writable: true });
  }
  const decision = new Answer(requestId, resourceId, decided);
  if (roles > 0) {
    decision.effectiveDerivedRoles = Array.from({ length: roles }, (_, role) => texts.of(wordAt(start + 1 + role)));
  }
  return json === "" ? decision : Object.assign(decision, JSON.parse(json));
}

function actionDecision(at: number, texts: TableTexts): ActionDecision {
  const code = wordAt(at + 1);
  const policy = wordAt(at + 2);
  const rule = wordAt(at + 4);
  return {
    effect: code & 1 ? "allow" : "deny",
    policy: policy === NO_POLICY ? "NO_MATCH" : texts.of(policy),
    scope: texts.of(wordAt(at + 3)),
    reason:
      rule === 0
        ? ({ kind: KINDS[code >>> 1] } as Reason)
        : { kind: "rule", rule: `${texts.of(wordAt(at + 5))}#${texts.of(rule - 1)}` },
  };
}

const ACTION_WORDS = 6;
const NO_POLICY = 2 ** 32 - 1;
/** The reasons that no rule gives, by their numbers. */
const KINDS = ["", "not-in-role-policy", "no-rule-applied", "no-policy"] as const;
