/** Builds the dashboard as the service serves it: its page, and files whose names have a hash of what is in them. */
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { compressFiles } from './compress.ts'

const sources = join(import.meta.dirname, '..', 'dashboard')

/** Replaces the folder. */
export async function buildDashboard(folder: string): Promise<void> {
  // Within a run of tests it would be that of tests, and React several times the size.
  const before = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  await build({ root: sources, logLevel: 'warn', build: { outDir: resolve(folder), emptyOutDir: true } })
  process.env.NODE_ENV = before
  await compressFiles(folder)
}
