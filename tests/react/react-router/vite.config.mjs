import { reactRouter } from "@react-router/dev/vite";
import { defineConfig } from "vite";
import { wardgate } from "wardgate/vite";

// The packages are in a folder above the app.
export default defineConfig({ plugins: [wardgate(), reactRouter()], server: { fs: { allow: ["../.."] } } });
