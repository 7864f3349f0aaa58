// Compiles component files of Svelte and Vue, as bundlers of their users do: a plug-in for the tests.
//
// `Page.svelte?server` is the component for a server, with the components that it imports.

import { compileScript, parse } from "@vue/compiler-sfc";
import { compile } from "svelte/compiler";
import ts from "typescript";
import type { Plugin } from "vitest/config";

export function componentFiles(): Plugin {
  return {
    name: "component-files",
    enforce: "pre",
    async resolveId(source, importer) {
      if (!source.endsWith(".svelte") || importer?.endsWith(SERVER) !== true) return null;
      const found = await this.resolve(source, importer, { skipSelf: true });
      return found && `${found.id}${SERVER}`;
    },
    transform(text, id) {
      const [filename] = id.split("?") as [string];
      if (filename.endsWith(".svelte")) return fromSvelte(text, filename, id.endsWith(SERVER) ? "server" : "client");
      return filename.endsWith(".vue") ? fromVue(text, filename) : null;
    },
  };
}

function fromSvelte(text: string, filename: string, generate: "client" | "server"): { code: string; map: null } {
  const { js, warnings } = compile(text, { filename, generate, dev: false });
  if (warnings.length > 0) throw new Error(warnings.map(({ code, message }) => `${filename}: ${code}: ${message}`).join("\n"));
  return { code: js.code, map: null };
}

function fromVue(text: string, filename: string): { code: string; map: null } {
  const { descriptor, errors } = parse(text, { filename });
  if (errors.length > 0) throw errors[0]!;
  const { content } = compileScript(descriptor, { id: filename, inlineTemplate: true });
  const { outputText } = ts.transpileModule(content, { compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true } });
  return { code: outputText, map: null };
}

const SERVER = "?server";
