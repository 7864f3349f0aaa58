// The work before the first request: it runs to its end, and logs nothing.

import { afterEach, describe, expect, it, vi } from "vitest";

import { evaluation, type EndpointAnswer } from "../src/endpoints.ts";
import { prepare, type Responder } from "../src/warm-up.ts";

afterEach(() => vi.restoreAllMocks());

/** Runs the preparation with a responder, and returns the outcome and the log. */
async function prepared(respond: Responder): Promise<{ readonly answered: unknown; readonly told: readonly unknown[] }> {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  const answered = await new Promise((resolve) => {
    prepare((...asking) => {
      const answering = respond(...asking);
      answering.then(resolve, resolve);
      return answering;
    });
  });
  // A failure is logged after it has occurred.
  await vi.waitFor(() => expect(error.mock.calls.length > 0).toBe(answered instanceof Error));
  return { answered, told: error.mock.calls.flat() };
}

const nobody = { kind: "known", by: "token", name: "nobody" } as const;

describe("the warm-up", () => {
  it("makes a request, which is denied", async () => {
    const respond: Responder = async (request, service, context) => {
      const header = request.headers.get("Authorization");
      expect(await service.config.authenticator.caller(header, 0)).toEqual(nobody);
      service.policies.awaken(context);
      return evaluation({ endpoint: "evaluation", request, service, caller: nobody, context });
    };
    const { answered, told } = await prepared(respond);
    expect(answered).toEqual({ body: { decision: false }, allowed: 0, denied: 1 } satisfies EndpointAnswer);
    expect(told).toEqual([]);
  });

  it("logs a failure, and continues", async () => {
    const { told } = await prepared(() => Promise.reject(new Error("no way")));
    expect(told).toEqual(['{"event":"warm-up","message":"Error: no way"}']);
  });
});
