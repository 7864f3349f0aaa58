// The adapters for tRPC and Nest in the real frameworks. What both share with the others is tested with those.

import "reflect-metadata";

import { type CanActivate, Controller, type ExecutionContext, Get, Module, NotFoundException, UseGuards } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { initTRPC, TRPCError } from "@trpc/server";
import { afterAll, describe, expect, it, vi } from "vitest";

import type { Question } from "./authorizer.ts";
import * as forNest from "./nest.ts";
import * as forTrpc from "./trpc.ts";
import { openAlbum, viewing } from "../testing.ts";
import type { Principal } from "../pdp/request-types.ts";

const { principal, resource } = viewing();
const pdp = await openAlbum();
const question = (changes: object = {}): Question<unknown> => ({ principal: () => principal, action: "view", resource, ...changes });
const thrown = [new Error("lost"), undefined, null, false, 0, "", "route"];

interface Context {
  readonly principal?: Principal | undefined;
}

describe("tRPC", () => {
  const t = initTRPC.context<Context>().create();

  /** Calls a procedure, and returns its answer or the code of its error. */
  async function called(asked: Question<forTrpc.Call>, options?: forTrpc.AuthorizeOptions<unknown, unknown>): Promise<unknown> {
    const run = vi.fn(() => "the album");
    const router = t.router({ album: t.procedure.use(forTrpc.authorize(pdp, asked, options)).query(run) });
    const answer = await router.createCaller({ principal }).album().catch((error: unknown) => (error instanceof TRPCError ? error.code : error));
    expect(run).toHaveBeenCalledTimes(answer === "the album" ? 1 : 0);
    return answer;
  }

  it("runs a procedure that the PDP allows, and no other", async () => {
    expect(await called(question())).toBe("the album");
    for (const changes of [{ action: "burn" }, { principal: () => null }, { resource: () => undefined }]) expect(await called(question(changes))).toBe("FORBIDDEN");
  });

  it.each(thrown)("never runs a procedure if %j is thrown", async (value) => {
    for (const part of ["principal", "resource", "action", "auxData"]) {
      expect(await called(question({ [part]: () => { throw value; } }))).toBe("INTERNAL_SERVER_ERROR");
    }
  });

  it("lets an error set its code, and the app make the error of a denied call", async () => {
    expect(await called(question({ principal: () => { throw new TRPCError({ code: "UNAUTHORIZED" }); } }))).toBe("UNAUTHORIZED");
    expect(await called(question({ action: "burn" }), { denied: () => new TRPCError({ code: "NOT_FOUND" }) })).toBe("NOT_FOUND");
    expect(await called(question({ action: "burn" }), { denied: () => undefined as never })).toBe("INTERNAL_SERVER_ERROR");
  });

  it("reads the context, the checked input and the path, which the next steps get too", async () => {
    const mayEdit = forTrpc.authorize<Context, { readonly owner: string }>(pdp, {
      principal: ({ ctx }) => ctx.principal,
      action: ({ path }) => path,
      resource: ({ input }) => ({ ...resource, attr: input }),
    });
    const input = (value: unknown): { owner: string } => value as { owner: string };
    const router = t.router({ edit: t.procedure.input(input).use(mayEdit).mutation(({ ctx, input: { owner } }) => `${ctx.principal?.id} ${owner}`) });
    expect(await router.createCaller({ principal }).edit({ owner: "ada" })).toBe("ada ada");
    await expect(router.createCaller({ principal }).edit({ owner: "bo" })).rejects.toMatchObject({ code: "FORBIDDEN" });
    await expect(router.createCaller({}).edit({ owner: "ada" })).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});

describe("Nest", () => {
  const servers: { close(): Promise<void> }[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  /** Sends a request to an app with the guard, and returns status and body. */
  async function sent(asked: Question<ExecutionContext>, options?: forNest.AuthorizeOptions<ExecutionContext>): Promise<readonly [number, string]> {
    class Albums {
      show(): string {
        return "the album";
      }
    }
    class App {}
    const guard: CanActivate = forNest.authorize(pdp, asked, options);
    // What decorators do, in a language without them.
    Get()(Albums.prototype, "show", Object.getOwnPropertyDescriptor(Albums.prototype, "show")!);
    UseGuards(guard)(Albums);
    Controller("album")(Albums);
    Module({ controllers: [Albums] })(App);
    const app = await NestFactory.create(App, { logger: false });
    servers.push(app);
    await app.listen(0, "127.0.0.1");
    const response = await fetch(`${await app.getUrl()}/album`, { headers: { authorization: "ada" } });
    return [response.status, await response.text()];
  }

  it("passes a request that the PDP allows, and no other", async () => {
    const signedIn = (context: ExecutionContext): Principal | undefined =>
      context.switchToHttp().getRequest<{ headers: { authorization: string } }>().headers.authorization === "ada" ? principal : undefined;
    expect(await sent(question({ principal: signedIn }))).toEqual([200, "the album"]);
    for (const changes of [{ action: "burn" }, { principal: () => null }, { resource: () => undefined }]) expect((await sent(question(changes)))[0]).toBe(403);
  });

  it.each(thrown)("never passes a request if %j is thrown", async (value) => {
    expect((await sent(question({ resource: () => { throw value; } })))[0]).toBe(500);
  });

  it("lets the app make the exception of a denied request", async () => {
    expect((await sent(question({ action: "burn" }), { denied: () => new NotFoundException("no such album") }))[0]).toBe(404);
    expect((await sent(question({ action: "burn" }), { denied: () => undefined as never }))[0]).toBe(500);
  });
});

describe.each([["trpc", forTrpc.authorize], ["nest", forNest.authorize]])("wardgate/%s", (_, authorize) => {
  it("refuses an invalid question or option when it is made", () => {
    const check = (given: readonly unknown[], message: string): void => expect(() => Reflect.apply(authorize, undefined, given)).toThrow(new TypeError(message));
    check([pdp], "a question must be an object, found undefined");
    check([pdp, { ...question(), acton: "view" }], "unknown member `acton`, did you mean `action`?");
    check([pdp, question(), { denied: 404 }], "option `denied` must be a function, found number");
  });
});
