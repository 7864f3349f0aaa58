// The theme of VitePress, with colours that everybody can read and a landmark on the page of missing pages.
import Theme from "vitepress/theme";
import { h } from "vue";
import "./style.css";

const NotFound = () =>
  h("main", { class: "not-found" }, [h("h1", "There is no such page"), h("p", h("a", { href: "/" }, "To the first page"))]);

export default { extends: Theme, Layout: () => h(Theme.Layout, null, { "not-found": NotFound }) };
