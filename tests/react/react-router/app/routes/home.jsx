// The server decides what the first paint shows, apart from one question.

import { useLoaderData } from "react-router";
import { decide } from "wardgate/view";

import policies from "../../policies";
import { Albums } from "../albums.jsx";

export async function loader() {
  const principal = { id: "ada", roles: ["user"] };
  const albums = ["ada", "bo"].map((owner, at) => ({ kind: "album", id: `a${at}`, attr: { owner } }));
  const pdp = await policies.open();
  return { albums, principal, decisions: decide(pdp, principal, albums.map((resource) => ({ action: "delete", resource }))) };
}

export default function Home() {
  return <Albums {...useLoaderData()} />;
}
