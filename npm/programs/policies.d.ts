// The types of policies, written by `wardgate types`. Do not change them: write them anew.
// Policies: 20ded3c6f3c3d7a62cb30b5d29db2932ba11dde06bf3d1ad1cfa5ff2490dc4ee

/** The policies, for `open<Policies>` of the package `wardgate`. */
export interface Policies {
  roles: "archivist" | "guest" | "user";
  principal: {
    attr: Open<{
      level?: number | null | undefined;
      team?: unknown;
    }>;
  };
  resources: {
    album: {
      action: "edit" | "view" | `download:${string}`;
      attr: Open<{
        comments?: readonly (Open<{
          by?: string | null | undefined;
          stars?: number | null | undefined;
        }> | null)[] | ReadonlySet<Open<{
          by?: string | null | undefined;
          stars?: number | null | undefined;
        }> | null> | null | undefined;
        hidden?: boolean | null | undefined;
        owner?: string | null | undefined;
        place?: Open<{
          city?: string | null | undefined;
        }> | null | undefined;
        rating?: number | null | undefined;
        taken?: string | Date | null | undefined;
        teams?: readonly (string | null)[] | ReadonlySet<string | null> | null | undefined;
      }>;
      version: "default";
      scope: "";
      output: "resource.album.vdefault#owners-edit";
    };
    document: {
      action: "archive" | "purge" | "read" | `draft:${string}` | `drafts:${string}`;
      attr: Open<{
        author: string;
        pages?: number | null | undefined;
        paper?: {
          height?: number | undefined;
          width: number;
        } | undefined;
        printed?: string | Date | undefined;
        state: "draft" | "published";
        tags?: readonly string[] | ReadonlySet<string> | undefined;
      }>;
      version: "default" | "v2";
      scope: "" | "acme";
      output: never;
    };
    [kind: `log_${string}`]: {
      action: "archive" | "edit" | "purge" | "read" | "rotate" | "view" | `download:${string}` | `draft:${string}` | `drafts:${string}`;
      attr: object;
      version: string;
      scope: string;
      output: "resource.album.vdefault#owners-edit";
    };
  };
  outputs: {
    "resource.album.vdefault#owners-edit": {
      by: string;
      rule: "owners";
    };
  };
}

/** An object with these members, and with others. */
export type Open<T> = T | (T & { readonly [name: string]: unknown });
