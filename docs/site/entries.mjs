// A plugin of TypeDoc: names modules by the entries of the package, as programs import them.
import { basename } from "node:path";
import { Converter, ReflectionKind } from "typedoc";

/** Registers the plugin; TypeDoc calls it. */
export function load({ converter }) {
  converter.on(Converter.EVENT_CREATE_DECLARATION, (_, reflection) => {
    if (!reflection.kindOf(ReflectionKind.Module)) return;
    const name = basename(reflection.name);
    reflection.name = name === "index" ? "wardgate" : `wardgate/${name}`;
  });
}
