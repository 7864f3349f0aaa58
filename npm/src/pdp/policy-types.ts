// The types of policies, as `wardgate types` writes them, and what requests take of them. No value: at
// run time nothing of this file is left.
//
// Kinds, actions and versions are texts of programs, so that another one is an error. Roles and scopes
// are often data, of a token or of a tenant: editors suggest those of the policies, and any text will do.

/** What is known of policies. The declarations of `wardgate types` are one of these. */
export interface PolicyTypes {
  /** The roles that rules name. */
  readonly roles: string;
  /** The attributes of principals. */
  readonly principal: { readonly attr: object };
  /** The resources, by their kinds. */
  readonly resources: { readonly [kind: string]: ResourceTypes };
  /** The values of outputs, by the rule that emits them. */
  readonly outputs: object;
}

/** What is known of a kind of resource. */
export interface ResourceTypes {
  /** The actions that rules name. */
  readonly action: string;
  /** The attributes that its schema lists, or that rules read. */
  readonly attr: object;
  /** The versions of its policies. */
  readonly version: string;
  /** The scopes of its policies; empty is the root. */
  readonly scope: string;
  /** The rules that emit outputs about it, as `policy#rule`. Without them any rule may. */
  readonly output?: string;
}

/**
 * The policies of a program, for everything that is not opened with policies of its own: the hooks of
 * `wardgate/react` and `wardgate/vue`, and `open` without a type parameter.
 *
 * @example
 *     declare module "wardgate" {
 *       interface Registered { policies: Policies }
 *     }
 */
export interface Registered {}

/** The policies that are registered; without them, any. */
export type RegisteredTypes = Registered extends { readonly policies: infer P extends PolicyTypes } ? P : PolicyTypes;

/** The kinds of resources. */
export type KindOf<P extends PolicyTypes = RegisteredTypes> = keyof P["resources"] & string;

/** The actions on resources of a kind. */
export type ActionOf<P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>> = P["resources"][K]["action"] extends infer A extends string ? A : never;

/** Any text. Editors go on to suggest the texts beside it in a union. */
export type AnyText = string & {};
