/**
 * Builds the program for a package: `src` and what every start loads, in a few files. Most of a start from many files is
 * finding them (docs/adr/0039-bundled-program.md). The dashboard lies beside it.
 *
 *   node scripts/build.ts [folder]     default: dist
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { type RolldownOutput, rolldown } from 'rolldown'
import { buildDashboard } from './build-dashboard.ts'

const root = join(import.meta.dirname, '..')

/** Threads of their own begin with them. */
const threads = {
  'chunks/article': 'src/tools/web/article.ts',
  'chunks/output-thread': 'src/llm/loop/output-thread.ts',
}

const programs = {
  cli: 'src/cli.ts',
  server: 'src/server.ts',
  'chunks/sarif-thread': 'src/usecases/scans/sarif-thread.ts',
  ...threads,
}

/** By itself: what the service shares with it would lie in more files, with more than a worker needs. */
const worker = {
  worker: 'src/worker.ts',
  ...threads,
  'chunks/watchdog-thread': 'src/worker/runner/watchdog-thread.ts',
}

/** Sent as text to where it runs: it needs no other file. */
const tagger = { 'chunks/tagger': 'src/runtime/jobs/streams/tagger.ts' }

/**
 * With all that they need themselves. Other packages are native, or loaded by what few people use; so is the SDK of MCP,
 * but it is many files (docs/adr/0043-mcp-servers.md).
 */
const bundled = [
  '@modelcontextprotocol/sdk',
  'commander',
  'croner',
  'eventsource-parser',
  'fastify',
  'ipaddr.js',
  'jose',
  'picocolors',
  'pino',
  'prom-client',
  'stemmer',
  'undici',
  'uuidv7',
  'zod',
]

const isPackage = (id: string) => /^[a-z@]/.test(id)
const packageOf = (id: string) => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id

function isExternal(id: string, importer: string | undefined): boolean {
  if (isBuiltin(id)) return true
  const isOurs = importer === undefined || !importer.includes('/node_modules/')
  return isOurs && isPackage(id) && !bundled.includes(packageOf(id))
}

/** What the licences of copied code ask for: their text goes with it. */
function collectLicences(outputs: RolldownOutput[]): string {
  const files = outputs.flatMap(({ output }) => output)
  const modules = files.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? [])
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const names = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    return [`${name} ${version} (${license})`, ...names.map((file) => readFileSync(join(folder, file), 'utf8').trim())]
  })
  return `${texts.map((parts) => parts.join('\n\n')).join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

async function bundle(input: Record<string, string>, folder: string): Promise<RolldownOutput> {
  const sources = await rolldown({ cwd: root, input, platform: 'node', external: isExternal, logLevel: 'warn' })
  const output = await sources.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    // As deep below the package as `src/launch`, from where the program finds its own files.
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  await sources.close()
  return output
}

/** Replaces the folder. */
export async function buildProgram(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  const outputs: RolldownOutput[] = []
  for (const input of [programs, worker, tagger]) outputs.push(await bundle(input, folder))
  outputs.push(...(await buildDashboard(join(folder, 'dashboard'))))
  writeFileSync(join(folder, 'licences.txt'), collectLicences(outputs))
}

if (import.meta.main) await buildProgram(process.argv[2] ?? join(root, 'dist'))
