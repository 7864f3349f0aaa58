// Marks the top level of a bundled file as free of side effects.
//
// A bundler drops a file of the package that an app does not use: `sideEffects` in `package.json`
// says that it may. Of a file that is used it drops the statements that it knows to be without
// effect. So that one file drops as much as many files did, every initialiser at the top level is a
// plain value, or a call with the comment that bundlers look for.

import { parseAst } from "rolldown/parseAst";

/** Returns the text of a bundled file with these marks. Lines stay where they are. */
export function withoutSideEffects(code) {
  const { body } = parseAst(code);
  const namespaces = namespacesOf(body, code);
  const edits = body.flatMap((statement) => {
    if (statement.type === "ClassDeclaration" && hasEffects(statement.body, code)) return [classEdit(statement, code)];
    if (statement.type !== "VariableDeclaration") return [];
    return statement.declarations.flatMap((declaration) => editOf(declaration, namespaces, code) ?? []);
  });
  return edits.reduceRight((text, { start, end, by }) => text.slice(0, start) + by + text.slice(end), code);
}

/** Returns the edit of one declaration; `undefined` if it has no effect. */
function editOf({ id, init }, namespaces, code) {
  const text = code.slice(init?.start, init?.end);
  if (id.type === "ObjectPattern") {
    const names = namespaces.get(init.name);
    if (names === undefined) return undefined;
    // The values of a namespace are variables of this file, or constants that are written out.
    const values = id.properties.map(({ key, value }) => [value.name, names.get(key.name)]);
    const unknown = values.find(([, value]) => value === undefined);
    if (unknown !== undefined) throw new Error(`${init.name} has no \`${unknown[0]}\``);
    for (const [name, value] of values) if (namespaces.has(value)) namespaces.set(name, namespaces.get(value));
    return { start: id.start, end: init.end, by: values.map(([name, value]) => `${name} = ${value}`).join(", ") };
  }
  if (init == null || !hasEffects(init, code)) return undefined;
  const isCall = (init.type === "CallExpression" || init.type === "NewExpression") && !hasEffects(init.arguments, code);
  return { start: init.start, end: init.end, by: isCall ? PURE + text : `${PURE}(() => ${init.type === "ObjectExpression" ? `(${text})` : text})()` };
}

/** A class whose members have computed names is an expression that a bundler can drop. */
function classEdit({ id, start, end }, code) {
  return { start, end, by: `const ${id.name} = ${PURE}(() => ${code.slice(start, end)})();` };
}

/** Returns the namespaces of modules by their names: from the name of an export to the text of its value. */
function namespacesOf(body, code) {
  const declarations = body.flatMap((statement) => (statement.type === "VariableDeclaration" ? statement.declarations : []));
  const made = declarations.filter(({ init }) => init?.type === "CallExpression" && init.callee.name === "__exportAll");
  return new Map(made.map(({ id, init }) => {
    const names = init.arguments[0].properties.map(({ key, value }) => [key.name ?? key.value, code.slice(value.body.start, value.body.end)]);
    return [id.name, new Map(names)];
  }));
}

/** Returns true if a bundler cannot see that evaluating this syntax has no effect. */
function hasEffects(node, code) {
  if (Array.isArray(node)) return node.some((part) => hasEffects(part, code));
  if (node === null || typeof node !== "object") return false;
  switch (node.type) {
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      return false;
    case "CallExpression":
    case "NewExpression":
      return !code.slice(0, node.start).endsWith(PURE) || hasEffects(node.arguments, code);
    case "MethodDefinition":
    case "PropertyDefinition":
      return (node.computed && hasEffects(node.key, code)) || node.computed || (node.static && hasEffects(node.value, code));
    case "AssignmentExpression":
    case "MemberExpression":
    case "SpreadElement":
    case "TaggedTemplateExpression":
    case "UpdateExpression":
      return true;
    default:
      return Object.values(node).some((part) => hasEffects(part, code));
  }
}

const PURE = "/* @__PURE__ */ ";
