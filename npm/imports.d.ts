// Declares the imports of folders of policies: `"types": ["wardgate/imports"]` in `tsconfig.json`.
//
// A folder of another name needs a declaration like this one.

declare module "*/policies" {
  const policies: import("wardgate/policies").ImportedPolicies;
  export default policies;
}

// With Turbopack an import names a file of the folder.
declare module "*.yaml" {
  const policies: import("wardgate/policies").ImportedPolicies;
  export default policies;
}
