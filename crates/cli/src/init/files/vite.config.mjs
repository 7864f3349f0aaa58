import { wardgate } from "wardgate/vite";

export default { plugins: [wardgate()] };
