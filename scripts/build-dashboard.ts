/** Builds the dashboard as the service serves it: its page, and files whose names have a hash of what is in them. */
import { join, resolve } from 'node:path'
import { build, type Rolldown } from 'vite'
import { compressFiles } from './compress.ts'

const sources = join(import.meta.dirname, '..', 'dashboard')

/** Replaces the folder; resolves to what was put together, for the licences. */
export async function buildDashboard(folder: string): Promise<Rolldown.RolldownOutput[]> {
  // Within a run of tests it would be that of tests, and React several times the size.
  const before = process.env.NODE_ENV
  process.env.NODE_ENV = 'production'
  const built = await build({ root: sources, logLevel: 'warn', build: { outDir: resolve(folder), emptyOutDir: true } })
  if (before === undefined) delete process.env.NODE_ENV
  else process.env.NODE_ENV = before
  await compressFiles(folder)
  return [built].flat().filter((output) => 'output' in output)
}
