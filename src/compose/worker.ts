// Composes the worker program, inside a task's sandbox or in its own pod.
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { readEnvironment } from '../config/environment.ts'
import { mountedFiles } from '../contract/api/tasks/worker-pod.ts'
import { runCode } from '../contract/api/workspaces/code-runs.ts'
import { refuseDebugger } from '../lib/no-debugger.ts'
import { systemClock, systemIds } from '../lib/system-clock.ts'
import { runWorker } from '../worker/run-worker.ts'
import type { WorkspaceWorkerProgram } from '../worker/run-workspace-worker.ts'

const programSocket = join(mountedFiles.programs.folder, mountedFiles.programs.name)
/** The descriptor on which the worker reports to its service. */
const reportDescriptor = 3

/**
 * `--runner`: it runs attempts of many tasks, as its service orders.
 * `--pod`: the assignment is a mounted file; `--workspace FOLDER`: it is the whole input, and the folder that of the attempt;
 * otherwise it is the first line of the input. `--fill-cache`: there is none, and all that is needed is loaded.
 * `--leave-programs`: what its agent leaves running goes on after it.
 * `--host-program`: it is no worker, but starts the agent program for one.
 */
export async function startWorker(args: readonly string[] = process.argv.slice(2)): Promise<number> {
  refuseDebugger()
  const stop = new AbortController()
  process.once('SIGTERM', () => stop.abort(new Error('the worker was told to stop')))
  const workspace = args.indexOf('--workspace')
  if (workspace >= 0) {
    const load = () => loadDeps({ leavesPrograms: args.includes('--leave-programs') })
    return stayAwake(startWorkspaceWorker({ folder: args[workspace + 1] ?? '', stop: stop.signal, load }))
  }
  if (args.includes('--runner')) return stayAwake(startRunner(stop.signal))
  if (args.includes('--pod')) return stayAwake(startPodWorker(stop.signal))
  if (args.includes('--host-program')) return startHost(stop.signal)
  return runWorker({
    stdin: process.stdin,
    report: createWriteStream('', { fd: reportDescriptor }),
    stderr: process.stderr,
    stop: stop.signal,
    load: args.includes('--fill-cache') ? loadAll : loadDeps,
  })
}

/** Also what a runner needs. */
async function loadAll() {
  await import('../worker/runner/run-runner.ts')
  return loadDeps()
}

/** Pauses do not keep a process, and while the service is away nothing else may: it would end in the middle of its work. */
async function stayAwake(work: Promise<number>): Promise<number> {
  const timer = setInterval(() => undefined, 60_000)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}

async function startRunner(stop: AbortSignal): Promise<number> {
  const [{ runRunner }, { runAssignment, preload }, { workspaceRoot: _, keepUnsent: _unsent, ...deps }] =
    await Promise.all([import('../worker/runner/run-runner.ts'), import('../worker/run-assignment.ts'), loadBasics()])
  await preload()
  const warn = (message: string) => void process.stderr.write(`${message}\n`)
  const { createServiceFetch } = await import('../egress/service-fetch.ts')
  const fetch = await createServiceFetch((url) => url.includes(codePath))
  return runRunner({ stdin: process.stdin, deps: { ...deps, fetch }, run: runAssignment, stop, warn })
}

/** What lasts for minutes. */
const codePath = runCode.path.slice(0, runCode.path.indexOf(':'))

async function startPodWorker(stop: AbortSignal): Promise<number> {
  const { createTokenFetch, readMountedToken, runPodWorker } = await import('../worker/run-pod-worker.ts')
  const { createPodPrograms } = await import('../runtime/pod-programs/programs.ts')
  const programs = createPodPrograms({ path: programSocket, clock: systemClock })
  const load = async () => ({ ...(await loadBasics()), fetch: createTokenFetch(() => readMountedToken()), programs })
  return runPodWorker({ stop, load })
}

async function startWorkspaceWorker(
  program: Pick<WorkspaceWorkerProgram, 'folder' | 'stop' | 'load'>,
): Promise<number> {
  const { runWorkspaceWorker } = await import('../worker/run-workspace-worker.ts')
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  return runWorkspaceWorker({ ...program, stdin: process.stdin, env: readEnvironment(), print })
}

async function startHost(stop: AbortSignal): Promise<number> {
  const { hostProgram } = await import('../runtime/pod-programs/host.ts')
  await hostProgram(programSocket, stop)
  return 0
}

async function loadDeps({ leavesPrograms = false } = {}) {
  const [{ createSandbox }, { createPrograms }] = await Promise.all([
    import('../runtime/local/sandbox/sandbox.ts'),
    import('../runtime/local/sandbox/programs.ts'),
  ])
  const programs = createPrograms({ nodePath: process.execPath, leavesPrograms })
  return { ...(await loadBasics()), sandbox: createSandbox({ ids: systemIds }), programs }
}

async function loadBasics() {
  const [{ createEgress }, { loadUndici }, { readLeftFiles, readWorkspaceFiles }] = await Promise.all([
    import('../egress/egress.ts'),
    import('../egress/dialer.ts'),
    import('../runtime/folders/left-files.ts'),
  ])
  // Before there is work, rather than before its first call.
  const undici = await loadUndici()
  return {
    readLeftFiles,
    readWorkspaceFiles,
    // Not the platform's: that would be loaded beside it.
    fetch: undici.fetch as typeof fetch,
    egress: createEgress(),
    clock: systemClock,
    ids: systemIds,
    workspaceRoot: process.cwd(),
    // The service reads it into the log of the attempt, which this process is for alone.
    keepUnsent: (text: string) => void process.stderr.write(text),
  }
}
