// The types of component files, beside those that Svelte declares.

declare module "*.svelte?server" {
  const component: import("svelte").Component<any>;
  export default component;
}

declare module "*.vue" {
  const component: import("vue").Component;
  export default component;
}
