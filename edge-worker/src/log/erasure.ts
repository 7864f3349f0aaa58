// Erasing subjects over HTTP: `POST /erase` with the token of the operator and `{"subjects": ["ada"]}`.
//
// It answers when a signed checkpoint is about the record of the erasure, so an answer of 200 means that the keys are gone.

import { Authenticator } from "../auth.ts";
import { fromUtf8, readBounded, TooLarge } from "../text.ts";
import type { LogEnv } from "./env.ts";

/** Answers a request. Without `LOG_TOKEN` there is nothing to be found. */
export async function answerErasure(request: Request, { LOG_TOKEN, SEQUENCER }: LogEnv): Promise<Response> {
  if (LOG_TOKEN === undefined || new URL(request.url).pathname !== "/erase") return refused(404, "not-found");
  if (request.method !== "POST") return refused(405, "method-not-allowed");
  if (!TOKEN.test(LOG_TOKEN) || SEQUENCER === undefined) {
    report("LOG_TOKEN must have 16 characters or more, and SEQUENCER must be bound");
    return refused(503, "not-configured");
  }
  const operator = await Authenticator.create(new Map([["operator", LOG_TOKEN]]));
  if ((await operator.caller(request.headers.get("Authorization"), Date.now())).kind !== "known") return refused(401, "unauthorized");
  const subjects = await subjectsIn(request);
  if (subjects === undefined) return refused(400, "bad-request");
  try {
    return answer({ erased: await SEQUENCER.get(SEQUENCER.idFromName("log")).erase(subjects) }, 200);
  } catch (thrown) {
    report(String(thrown));
    return refused(503, "not-erased");
  }
}

/** Returns the subjects that a body names; `undefined` if it is wrong. */
async function subjectsIn({ body }: Request): Promise<readonly string[] | undefined> {
  try {
    const read: unknown = JSON.parse(fromUtf8(body === null ? new Uint8Array() : await readBounded(body, MAX_BODY_BYTES)));
    const subjects: unknown = typeof read === "object" && read !== null && "subjects" in read ? read.subjects : undefined;
    const areIds = Array.isArray(subjects) && subjects.length > 0 && subjects.every((id) => typeof id === "string" && id.length <= MAX_ID_LENGTH);
    return areIds ? subjects : undefined;
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof TypeError || thrown instanceof TooLarge) return undefined;
    throw thrown;
  }
}

function refused(status: number, error: string): Response {
  return answer({ error }, status);
}

function answer(body: object, status: number): Response {
  return Response.json(body, { status, headers: { "Cache-Control": "no-store" } });
}

/** Tells the operator, in the log of the worker. */
function report(message: string): void {
  console.error(JSON.stringify({ event: "erasure", message }));
}

const TOKEN = /^[\w~+/.=-]{16,}$/;
const MAX_BODY_BYTES = 2 ** 20;
const MAX_ID_LENGTH = 16_384;
