import { test } from "vitest";
import { answer } from "./page.mjs";

test("the answers are those of the native build", () => answer());
