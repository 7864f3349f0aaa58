// A page with one album, whose PDP follows the policies while the development server runs.

import { createRoot } from "react-dom/client";
import { Can, WardgateProvider } from "wardgate/react";

import policies from "./policies";

const open = () => policies.open();
const resource = { kind: "album", id: "a1", attr: { owner: "ada" } };

createRoot(document.getElementById("root")).render(
  <WardgateProvider principal={{ id: "ada", roles: ["user"] }} pdp={open}>
    <p data-answer="edit">
      <Can action="edit" resource={resource} loading="loading" fallback="denied">
        allowed
      </Can>
    </p>
  </WardgateProvider>,
);
