import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

interface Album {
  owner: string;
  title: string;
}

export function decide(pdp: Pdp): boolean {
  const whole: Readonly<Album> = Object.freeze({ owner: "ada", title: "Sea" });
  const part: Partial<Album> = { title: "Sea" };
  const picked: Pick<Album, "owner"> = whole;
  const mayEdit = (attr: Partial<Album>): boolean => pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr } });
  return mayEdit(whole) && mayEdit(picked) && !mayEdit(part);
}
