// What runs before there is a request: it runs to its end, and says nothing.

import { afterEach, describe, expect, it, vi } from "vitest";

import { evaluation, type Answered } from "../src/endpoints.ts";
import { prepare, type Responding } from "../src/warm-up.ts";

afterEach(() => vi.restoreAllMocks());

/** Prepares with a way to respond, and returns what that came to and what was told. */
async function prepared(respond: Responding): Promise<{ readonly answered: unknown; readonly told: readonly unknown[] }> {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  const answered = await new Promise((resolve) => {
    prepare((...asking) => {
      const answering = respond(...asking);
      answering.then(resolve, resolve);
      return answering;
    });
  });
  // What is told of a failure is told after it.
  await vi.waitFor(() => expect(error.mock.calls.length > 0).toBe(answered instanceof Error));
  return { answered, told: error.mock.calls.flat() };
}

const nobody = { kind: "known", by: "token", name: "nobody" } as const;

describe("the warm-up", () => {
  it("asks a question, which is denied", async () => {
    const respond: Responding = async (request, service, context) => {
      const header = request.headers.get("Authorization");
      expect(await service.config.authenticator.caller(header, 0)).toEqual(nobody);
      service.policies.awaken(context);
      return evaluation({ endpoint: "evaluation", request, service, caller: nobody, context });
    };
    const { answered, told } = await prepared(respond);
    expect(answered).toEqual({ body: { decision: false }, allowed: 0, denied: 1 } satisfies Answered);
    expect(told).toEqual([]);
  });

  it("tells of a failure, and stops nobody", async () => {
    const { told } = await prepared(() => Promise.reject(new Error("no way")));
    expect(told).toEqual(['{"event":"warm-up","message":"Error: no way"}']);
  });
});
