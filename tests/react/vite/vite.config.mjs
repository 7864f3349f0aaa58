import { defineConfig } from "vite";
import { wardgate } from "wardgate/vite";

export default defineConfig({
  plugins: [wardgate()],
  build: { target: "esnext", rollupOptions: { input: ["index.html", "many.html"] } },
});
