// A page of 1,000 `Can`: it writes the milliseconds of script that each of its steps takes.

import { memo } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { Can, WardgateProvider } from "wardgate/react";
import { decide } from "wardgate/view";

import policies from "./policies";

const principal = { id: "ada", roles: ["user"] };
const albums = Array.from({ length: 1000 }, (_, at) => ({ kind: "album", id: `a${at}`, attr: { owner: at % 2 === 0 ? "ada" : "bo" } }));
const pdp = await policies.open();
const decisions = decide(pdp, principal, albums.map((resource) => ({ action: "delete", resource })));

const Cans = memo(() => albums.map((resource) => (
  <Can key={resource.id} action="delete" resource={resource} loading="loading" fallback="denied">
    allowed
  </Can>
)));
const Plain = ({ at }) => (at % 2 === 0 ? "allowed" : "denied");
const Plains = memo(() => albums.map(({ id }, at) => <Plain key={id} at={at} />));

function spent(work) {
  const start = performance.now();
  flushSync(work);
  return performance.now() - start;
}

/** Makes a page, hands it the PDP, and lets the PDP take the same bundle again. */
function round() {
  const place = document.createElement("div");
  document.getElementById("root").replaceChildren(place);
  const root = createRoot(place);
  const show = (parts, children) => spent(() => root.render(<WardgateProvider principal={principal} {...parts}>{children}</WardgateProvider>));
  const cans = <Cans />;
  const times = { plain: show({}, <Plains />) };
  show({}, null);
  times.loading = show({}, cans);
  times.decisions = show({ decisions }, cans);
  times.pdp = show({ decisions, pdp }, cans);
  times.reload = spent(() => pdp.reload(policies.bundle));
  show({}, null);
  times.first = show({ pdp }, cans);
  const { textContent } = place;
  root.unmount();
  if (textContent !== "alloweddenied".repeat(500)) throw new Error(`expected 1,000 answers, found ${textContent.slice(0, 100)}`);
  return times;
}

window.rounds = (count) => Array.from({ length: count }, round);
document.title = "ready";
