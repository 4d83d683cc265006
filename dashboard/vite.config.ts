import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { contractRoutes } from './contract-routes.ts'
import { latinFont } from './latin-font.ts'

/** Where `npm run dev` in this folder finds a running service. */
const service = process.env.SVC_SERVER ?? 'http://127.0.0.1:8080'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [contractRoutes(), latinFont(), react()],
  build: {
    outDir: join(import.meta.dirname, '..', 'dist', 'dashboard'),
    emptyOutDir: true,
    // A data: address would need its own permission in the page's policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2024',
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { proxy: { '/api': service, '/openapi.json': service } },
})
