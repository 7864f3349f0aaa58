// The server decides what the first paint shows, apart from one question.

import { decide } from "wardgate/view";

import policies from "../policies/album.yaml";
import { Albums } from "./albums.jsx";

const opened = policies.open();

export const dynamic = "force-dynamic";

export default async function Page() {
  const principal = { id: "ada", roles: ["user"] };
  const albums = ["ada", "bo"].map((owner, at) => ({ kind: "album", id: `a${at}`, attr: { owner } }));
  const decisions = decide(await opened, principal, albums.map((resource) => ({ action: "delete", resource })));
  return <Albums albums={albums} principal={principal} decisions={decisions} />;
}
