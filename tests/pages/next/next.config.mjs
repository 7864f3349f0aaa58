import { withWardgate } from "wardgate/webpack";

export default withWardgate({ devIndicators: false });
