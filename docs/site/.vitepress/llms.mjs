// `llms.txt` (llmstxt.org): what the project is and where its pages are, for programs that read documents.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sidebar } from "./sidebar.mjs";

/** Writes `llms.txt`, and `llms-full.txt` with the pages of the sidebar in full. */
export async function writeSummary({ outDir, srcDir, site }) {
  const lines = [`# ${site.title}`, "", `> ${site.description}`, ""];
  const full = [];
  for (const { text, items } of sidebar) {
    lines.push(`## ${text}`, "");
    for (const item of items) {
      const page = await readFile(join(srcDir, pageOf(item.link)), "utf8");
      const sentence = firstSentence(page);
      lines.push(`- [${item.text}](${pageOf(item.link).replace(/README/, "index").replace(/md$/, "html")})${sentence && `: ${sentence}`}`);
      full.push(page);
    }
    lines.push("");
  }
  await writeFile(join(outDir, "llms.txt"), lines.join("\n"));
  await writeFile(join(outDir, "llms-full.txt"), full.join("\n"));
}

function pageOf(link) {
  return link.endsWith("/") ? `${link}README.md` : `${link}.md`;
}

/** Returns the first sentence below the title, in one line. */
function firstSentence(page) {
  const [, paragraph = ""] = /^# .*\n\n([^\n#|-][\s\S]*?)\n\n/.exec(page) ?? [];
  const plain = paragraph.replaceAll("\n", " ").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return plain.split(/(?<=\.)\s/)[0];
}
