// The floor of tasks: the same programs in the same sandbox with the same concurrency, without a service around them.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '../../src/lib/tree-removal.ts'
import { makeWorkFolder } from '../../src/runtime/folders/work-folder.ts'
import { createWorkspaces, defaultSize } from '../../src/runtime/folders/workspaces.ts'
import { startLocalCommand } from '../../src/runtime/local/commands/local-command.ts'
import { probeBubblewrap } from '../../src/runtime/local/confinement/bubblewrap.ts'
import { findControlGroups } from '../../src/runtime/local/confinement/control-groups.ts'
import { fillCompileCache as fillCache } from '../../src/runtime/local/workers/compile-cache.ts'
import { listProgramFolders } from '../../src/runtime/local/workers/program-folders.ts'
import { startWorkerProgram } from '../../src/runtime/local/workers/worker-launcher.ts'

const [kind = 'command', total = '500', concurrency = '4'] = process.argv.slice(2)
/** The program that the service of the same bench starts. */
const packageRoot = process.env.BENCH_PROGRAM ?? join(import.meta.dirname, '..', '..')
const sources = join(packageRoot, 'src', 'worker.ts')
const workerProgram = existsSync(sources) ? sources : join(packageRoot, 'dist', 'worker.js')

const folder = mkdtempSync(join(tmpdir(), 'svc-floor-'))
const probe = await probeBubblewrap()
if (!probe.available) throw new Error(probe.reason)
const shared = {
  bubblewrap: probe.bubblewrap,
  groups: await findControlGroups(),
  nodePath: process.execPath,
  workFolder: join(folder, 'work'),
  workspaces: createWorkspaces({ root: join(folder, 'work'), size: defaultSize }),
  masked: [],
  processes: 512,
}
const launcher = {
  ...shared,
  program: workerProgram,
  programFolders: listProgramFolders(packageRoot, workerProgram),
  environment: {},
  memoryBytes: 1024 ** 3,
}

async function runCommand(id: string): Promise<void> {
  const limits = { cpu: 1, memoryBytes: 2 * 1024 ** 3 }
  const command = { id, argv: ['true'], env: {}, limits, sink: () => undefined }
  const attempt = await startLocalCommand({ ...shared, outputBytes: 1024 }, command)
  await attempt.ended
  await attempt.release()
}

/** The worker program from its start until it has loaded all it needs; then its service is gone and it ends. */
async function runWorker(id: string): Promise<void> {
  const workspace = await makeWorkFolder(shared.workFolder, id)
  const group = await shared.groups.create(id)
  const worker = startWorkerProgram({ ...launcher, compileCache }, { folder: workspace, group }, launcher.memoryBytes)
  worker.stdin?.end()
  for (const stream of [worker.stdout, worker.stderr, worker.report]) stream?.resume()
  await worker.exited
  await group?.remove()
  await removeTree(workspace)
}

async function fillCompileCache(): Promise<string | undefined> {
  const { signal } = new AbortController()
  const options = {
    launcher: { ...launcher, compileCache: undefined },
    folder: join(folder, 'cache'),
    id: 'warm',
    signal,
  }
  return fillCache(options)
}

const compileCache = kind === 'worker' ? await fillCompileCache() : undefined
const runOne = kind === 'worker' ? runWorker : runCommand
let next = 0
const started = performance.now()
await Promise.all(
  Array.from({ length: Number(concurrency) }, async () => {
    while (next < Number(total)) await runOne(`floor-${next++}`)
  }),
)
process.send?.({ seconds: (performance.now() - started) / 1000 })
rmSync(folder, { recursive: true, force: true })
process.disconnect?.()
