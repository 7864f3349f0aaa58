// The site: every page of `docs/`, with the README as its front page, and the pages elsewhere that they link to.
import { fileURLToPath } from "node:url";
import { slug } from "github-slugger";
import { defineConfig } from "vitepress";
import { addReferences, references } from "./references.mjs";
import { checkLinks } from "./links.mjs";
import { writeSummary } from "./llms.mjs";
import { sidebar } from "./sidebar.mjs";

export default defineConfig({
  title: "Wardgate",
  description: "Decides who may do what, from one signed bundle: in browsers, at the edge and on servers.",
  lang: "en",
  srcDir: "../..",
  srcExclude: ["{crates,edge-worker,npm,shared,target}/**", "docs/site/**", "host-bench/*/**", "tests/!(cases)/**"],
  outDir: "../../target/site",
  cacheDir: "../../target/site-cache",
  rewrites: (page) => page.replace(/(^|\/)README\.md$/, "$1index.md"),
  markdown: {
    languageAlias: { cel: "js" },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    // Anchors as code hosts make them, for links that work in both.
    anchor: { slugify: slug },
    config: (md) => md.core.ruler.push("adapt", ({ tokens }) => tokens.forEach(adapt)),
  },
  // The pages are above the folder in which packages are installed.
  vite: { resolve: { alias: [alias("vue/server-renderer", "vue/server-renderer/index.mjs"), alias("vue", "vue/dist/vue.runtime.esm-bundler.js")] } },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Tutorial", link: "/docs/tutorial" },
      { text: "Examples", link: "/docs/examples/" },
      { text: "Policies", link: "/docs/policies" },
      { text: "Functions", link: "/docs/functions" },
      { text: "All documents", link: "/docs/" },
      ...references,
    ],
    sidebar,
    outline: [2, 3],
  },
  // VitePress looks at links between pages; `checkLinks` looks at all, with their anchors.
  buildEnd: async (site) => {
    await addReferences(site);
    await checkLinks(site);
    await writeSummary(site);
  },
});

/** Resolves an import to a file of an installed package. */
function alias(name, file) {
  return { find: new RegExp(`^${name}$`), replacement: fileURLToPath(new URL(`../node_modules/${file}`, import.meta.url)) };
}

/**
 * Points links at what files without a page become: a `README.md` is an `index.md`. Frames indented code as fenced code. Makes a
 * plain cell of a head of a table without text, which heads nothing.
 */
function adapt(token, at, tokens) {
  const isEmptyHead = token.type === "th_open" && tokens[at + 1].content === "";
  if (isEmptyHead) for (const side of [token, tokens[at + 2]]) side.tag = "td";
  if (token.type === "code_block") Object.assign(token, { type: "fence", tag: "code", info: "text" });
  const href = token.attrGet?.("href");
  if (href === "LICENSE") token.attrSet("href", "https://www.apache.org/licenses/LICENSE-2.0");
  else if (href && !href.includes(":")) token.attrSet("href", href.replace(/README\.md(?=#|$)/, "index.md"));
  token.children?.forEach(adapt);
}
