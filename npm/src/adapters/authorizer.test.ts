// The adapters for Hono, Express and Fastify in apps of the real frameworks: one table of cases, whose
// answers are equal for all of them.

import express5, { type ErrorRequestHandler, type Express } from "express";
import { fastify, type FastifyReply } from "fastify";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { afterAll, describe, expect, it, vi } from "vitest";

import type { PdpSource, Question } from "./authorizer.ts";
import * as forExpress from "./express.ts";
import * as forFastify from "./fastify.ts";
import * as forHono from "./hono.ts";
import { addressOf, openAlbum, viewing } from "../testing.ts";
import type { Principal, Resource } from "../pdp/request-types.ts";

const express4 = ((await import("express-4" as string)) as { default: typeof express5 }).default;

/**
 * Sends one request to an app that shows an album if `question` allows it, and returns status and
 * text.
 */
type App = (pdp: PdpSource, question: Question<unknown>, denied?: Denied) => Promise<readonly [number, string]>;

/** The answer to a denied request. */
interface Denied {
  readonly status: 404;
  readonly text: string;
  readonly fails?: true;
}

const { principal, resource } = viewing();
const album = await openAlbum();

/** Returns a question that is allowed, with changes. */
function question(changes: Partial<Question<unknown>> = {}): Question<unknown> {
  return { principal: () => principal, action: "view", resource, ...changes };
}

const onHono: App = async (pdp, question, denied) => {
  const app = new Hono();
  const answer = denied && { denied: () => (fail(denied), new Response(denied.text, denied)) };
  app.get("/album", forHono.authorize(pdp, question, answer), (context) => context.text("the album"));
  app.onError((error, context) => context.text("error", error instanceof HTTPException ? error.status : 500));
  // Hono passes on thrown values that are not errors; the server then answers 500 by itself.
  const response = await (async () => app.request("/album"))().catch(() => new Response("error", { status: 500 }));
  return [response.status, await response.text()];
};

const onExpress = (express: typeof express5): App => async (pdp, question, denied) => {
  const app = express();
  const answer = denied && {
    denied: (_: express5.Request, response: express5.Response) => {
      fail(denied);
      response.status(denied.status).send(denied.text);
    },
  };
  app.get("/album", forExpress.authorize(pdp, question, answer), (_, response) => void response.send("the album"));
  // A later route: a request that skips the first one must not reach it either.
  app.get("/album", (_, response) => void response.send("the wrong album"));
  app.use(((error: { readonly status?: number }, _request, response, _next) => {
    response.status(error.status ?? 500).send("error");
  }) satisfies ErrorRequestHandler);
  return send(app);
};

const onFastify: App = async (pdp, question, denied) => {
  const app = fastify();
  const answer = denied && {
    denied: (_: unknown, reply: FastifyReply) => {
      fail(denied);
      return reply.code(denied.status).send(denied.text);
    },
  };
  app.setErrorHandler((error: { readonly status?: number }, _, reply) => reply.code(error.status ?? 500).send("error"));
  app.get("/album", { preHandler: forFastify.authorize(pdp, question, answer) }, async () => "the album");
  const { statusCode, body } = await app.inject("/album");
  return [statusCode, body];
};

const apps: readonly (readonly [string, App])[] = [
  ["Hono", onHono],
  ["Express 5", onExpress(express5)],
  ["Express 4", onExpress(express4)],
  ["Fastify", onFastify],
];

describe.each(apps)("%s", (_, app) => {
  const pass = [200, "the album"];
  const denied = [403, "Forbidden"];
  const error = [500, "error"];

  it("passes a request that the PDP allows", async () => {
    expect(await app(album, question())).toEqual(pass);
    expect(await app(() => album, question())).toEqual(pass);
    expect(await app(async () => album, question({ principal: async () => principal }))).toEqual(pass);
    const found = { action: async () => "view", resource: () => Promise.resolve(resource), auxData: () => undefined };
    expect(await app(album, question(found))).toEqual(pass);
  });

  it("denies every other request", async () => {
    expect(await app(album, question({ action: "burn" }))).toEqual(denied);
    expect(await app(album, question({ principal: () => ({ ...principal, roles: [] }) }))).toEqual(denied);
    expect(await app(album, question({ resource: { ...resource, kind: "safe" } }))).toEqual(denied);
  });

  it("denies a missing principal or resource, and reads no part that it does not need", async () => {
    const unused = vi.fn(() => resource);
    for (const missing of [undefined, null]) {
      expect(await app(album, question({ principal: () => missing, resource: unused }))).toEqual(denied);
      expect(await app(album, question({ principal: async () => missing, resource: unused }))).toEqual(denied);
      expect(await app(album, question({ resource: () => missing }))).toEqual(denied);
    }
    expect(unused).not.toHaveBeenCalled();
  });

  // Values that some frameworks take for a pass, or for the way to another handler.
  const thrown = [new Error("lost"), undefined, null, false, 0, "", "route", "router", { status: 200 }];
  it.each(thrown)("never passes a request if %j is thrown", async (value) => {
    const throws = (): never => { throw value; };
    for (const part of ["principal", "resource", "action", "auxData"]) {
      expect(await app(album, question({ [part]: throws }))).toEqual(error);
      expect(await app(album, question({ [part]: async () => throws() }))).toEqual(error);
    }
    expect(await app(throws, question())).toEqual(error);
  });

  it("never passes a request with an invalid part", async () => {
    const unusual = [{ id: "ada" }, { ...principal, roles: "user" }, "ada", true, 0] as unknown as Principal[];
    for (const one of unusual) expect(await app(album, question({ principal: () => one }))).toEqual(error);
    for (const one of [{}, "album", true] as unknown as Resource[]) {
      expect(await app(album, question({ resource: () => one }))).toEqual(error);
    }
    expect(await app(album, question({ action: (() => undefined) as never }))).toEqual(error);
    expect(await app((() => undefined) as never, question())).toEqual(error);
    const closed = await openAlbum();
    closed.dispose();
    expect(await app(closed, question())).toEqual(error);
  });

  it("takes only true for an allow", async () => {
    const lying = { isAllowed: () => "yes" } as never;
    expect(await app(lying, question())).toEqual(denied);
  });

  it("lets the app answer denied requests", async () => {
    const hidden = { status: 404, text: "no such album" } as const;
    expect(await app(album, question({ action: "burn" }), hidden)).toEqual([404, "no such album"]);
    expect(await app(album, question(), hidden)).toEqual(pass);
    expect(await app(album, question({ action: "burn" }), { ...hidden, fails: true })).toEqual(error);
  });

  it("lets an error set its status", async () => {
    const principalOf = (): never => {
      throw app === onHono ? new HTTPException(401) : Object.assign(new Error(), { status: 401 });
    };
    expect(await app(album, question({ principal: principalOf }))).toEqual([401, "error"]);
  });
});

describe.each([
  ["wardgate/hono", forHono.authorize],
  ["wardgate/express", forExpress.authorize],
  ["wardgate/fastify", forFastify.authorize],
])("%s", (_, authorize) => {
  it("refuses an invalid question when the middleware is made", () => {
    const check = (given: readonly unknown[], message: string): void => {
      expect(() => Reflect.apply(authorize, undefined, given)).toThrow(new TypeError(message));
    };
    check([album], "a question must be an object, found undefined");
    check([album, { ...question(), acton: "view" }], "unknown member `acton`, did you mean `action`?");
    check([album, { ...question(), principal }], "`principal` must be a function, found object");
    check([album, { ...question(), action: undefined }], "`action` is missing in the question");
    check([album, { principal: () => principal, action: "view" }], "`resource` is missing in the question");
    check([album, { ...question(), action: ["view"] }], "`action` must be of the kind string, or a function, found array");
    check([album, { ...question(), resource: "album" }], "`resource` must be of the kind object, or a function, found string");
    check([undefined, question()], "the PDP must be one that `open` returned, or a function, found undefined");
    check([openAlbum(), question()], "the PDP must be one that `open` returned, or a function, found object; await it");
    check([album, question(), { deny: () => {} }], "unknown option `deny`, expected one of denied, limits");
    check([album, question(), { denied: 404 }], "option `denied` must be a function, found number");
    check([album, question(), { limits: album.isAllowed }], "option `limits` must be a limiter of a PDP, found function");
    check([album, question(), 404], "options must be an object, found number");
  });
});

const servers: { close(): unknown }[] = [];
afterAll(() => servers.forEach((server) => server.close()));

async function send(app: Express): Promise<readonly [number, string]> {
  const server = app.listen(0, "127.0.0.1");
  servers.push(server);
  const response = await fetch(`${await addressOf(server)}/album`);
  return [response.status, await response.text()];
}

function fail({ fails }: Denied): void {
  if (fails) throw new Error("no answer");
}
