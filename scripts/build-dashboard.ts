/** Builds the dashboard as the service serves it: its page, and files whose names have a hash of what is in them. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { compressFiles } from './compress.ts'

const sources = join(import.meta.dirname, '..', 'dashboard')

/** Replaces the folder. */
export async function buildDashboard(folder: string): Promise<void> {
  if (!existsSync(sources)) return
  const { build } = await import('vite')
  await build({ root: sources, logLevel: 'warn', build: { outDir: resolve(folder), emptyOutDir: true } })
  await compressFiles(folder)
}
