// The albums of a page: the answers of the server first, and those of the PDP once it is there.

import { Can, WardgateProvider } from "wardgate/react";

const open = () => import("../policies").then(({ default: policies }) => policies.open());

export function Albums({ albums, principal, decisions }) {
  return (
    <WardgateProvider principal={principal} decisions={decisions} pdp={open}>
      {albums.flatMap((resource) =>
        ["delete", "edit"].map((action) => (
          <p key={resource.id + action} data-answer={`${action} ${resource.id}`}>
            <Can action={action} resource={resource} loading="loading" fallback="denied">
              allowed
            </Can>
          </p>
        )),
      )}
    </WardgateProvider>
  );
}
