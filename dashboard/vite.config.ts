import { join, relative } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { contractRoutes } from './contract-routes.ts'
import { latinFont } from './latin-font.ts'

/** Where `npm run dev` in this folder finds a running service. */
const service = process.env.SVC_SERVER ?? 'http://127.0.0.1:8080'

const sources = join(import.meta.dirname, '..')
/** By the beginning of their names. */
const apart = [
  ...['chart', 'code/', 'conversation', 'diff', 'markdown', 'schema-form', 'table', 'trace'],
  ...[
    'choice',
    'chosen',
    'failure-words',
    'filter-chips',
    'listing',
    'measured',
    'queue',
    'search-box',
    'task-columns',
    'unsaved',
  ],
]

function isShared(id: string): boolean {
  const path = relative(sources, id)
  const isOfPage =
    path.startsWith('dashboard/src/views/') || apart.some((name) => path.startsWith(`dashboard/src/parts/${name}`))
  return (path.startsWith('dashboard/src/') || path.startsWith('src/')) && !isOfPage
}

/**
 * A hundred files of a few lines are compressed worse than one: what many pages need is in one, and so are the libraries of every
 * page. Parts that are large or bring a library of their own, and those of lists alone, stay with the pages that show them.
 */
const codeSplitting = {
  includeDependenciesRecursively: false,
  groups: [
    {
      name: 'vendor',
      test: /node_modules\/(?:react|react-dom|scheduler|react-router|eventsource-parser|@tanstack\/(?:query-core|react-query))\//,
    },
    { name: 'trace', test: /dashboard\/src\/parts\/trace\//, minShareCount: 2 },
    { name: 'shared', test: isShared, minShareCount: 3 },
  ],
}

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
    rolldownOptions: { checks: { pluginTimings: false }, output: { codeSplitting } },
  },
  server: { proxy: { '/api': service, '/openapi.json': service } },
})
