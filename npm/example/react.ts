// An album in React. With JSX it is shorter: `<Can action="edit" resource={album}><button>edit</button></Can>`.

import { createElement, type ReactNode } from "react";
import type { Pdp, Principal, Resource } from "wardgate";
import { Can, useCan, WardgateProvider } from "wardgate/react";

export function Page({ pdp, principal, album }: { pdp?: Pdp; principal?: Principal; album: Resource }): ReactNode {
  return createElement(WardgateProvider, { pdp, principal }, createElement(Album, { album }));
}

function Album({ album }: { album: Resource }): ReactNode {
  const mayView = useCan("view", album);
  if (!mayView) return "not for you";
  const edit = createElement("button", null, "edit");
  return createElement(Can, { action: "edit", resource: album, fallback: "look only" }, edit);
}
