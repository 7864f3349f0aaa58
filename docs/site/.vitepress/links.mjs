// Links of the built pages: each leads to a page and an anchor that exist, or to a file of the project, which is
// copied to the site.
import { copyFile, mkdir, readdir, readFile, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

/** Fails the build if a link of a page leads nowhere. */
export async function checkLinks({ outDir, srcDir }) {
  const pages = await readPages(outDir);
  const dead = [];
  for (const [path, page] of pages) {
    // rustdoc has checked its own links.
    if (path.startsWith("api/rust/")) continue;
    for (const link of page.links) {
      const target = resolve(outDir, path, "..", link.startsWith("/") ? join(outDir, link) : link);
      if (!(await leads(target, path, pages, outDir, srcDir))) dead.push(`${path}: ${link}`);
    }
  }
  if (dead.length > 0) throw new Error(`dead links:\n${dead.join("\n")}`);
}

/** Returns the built pages by path, with their anchors and the links within the site. */
async function readPages(outDir) {
  const names = (await readdir(outDir, { recursive: true })).filter((name) => name.endsWith(".html"));
  const read = async (name) => {
    const html = await readFile(join(outDir, name), "utf8");
    const all = (attribute) => [...html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, "g"))].map(([, value]) => value);
    const links = all("href").map(unescape).filter((link) => !/^[a-z]+:|^#$|^$/.test(link));
    return [name, { anchors: new Set(all("id")), links }];
  };
  return new Map(await Promise.all(names.map(read)));
}

async function leads(target, from, pages, outDir, srcDir) {
  const [file, anchor] = target.split("#");
  const name = relative(outDir, file);
  const candidates = target.startsWith(join(outDir, from, "..", "#")) ? [from] : [name, `${name}.html`, join(name, "index.html")];
  const page = candidates.map((candidate) => pages.get(candidate)).find(Boolean);
  if (page) return anchor === undefined || page.anchors.has(decodeURIComponent(anchor));
  return (await isFile(file)) || copied(join(srcDir, name), file);
}

/** Copies a file of the project to the site; false if there is none. */
async function copied(source, target) {
  if (!(await isFile(source))) return false;
  await mkdir(dirname(target), { recursive: true });
  await copyFile(source, target);
  return true;
}

async function isFile(path) {
  return stat(path).then((found) => found.isFile(), () => false);
}

/** Returns the text of an attribute. */
function unescape(text) {
  return text.replaceAll("&amp;", "&").replaceAll("&quot;", '"');
}
