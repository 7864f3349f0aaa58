import { reactRouter } from "@react-router/dev/vite";
import { defineConfig } from "vite";
import { wardgate } from "wardgate/vite";

export default defineConfig({ plugins: [wardgate(), reactRouter()] });
