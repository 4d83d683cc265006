// Starts the real service in a process of its own with throw-away folders.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The built program, as people have it (run.ts); BENCH_PROGRAM names another one, or a checkout. */
const root = process.env.BENCH_PROGRAM ?? join(import.meta.dirname, '..')

export type RunningService = {
  url: string
  token: string
  pid: number
  /** From spawn to the first answer that says ready, in ms. */
  readyAfter: number
  dataDir: string
  stop(): Promise<void>
}

/** `program`: a folder with another one. */
export async function startService(flags: string[] = [], dataDir?: string, program = root): Promise<RunningService> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const readyFile = join(folder, 'ready.json')
  const data = dataDir ?? join(folder, 'data')
  const args = [
    'up',
    '--port',
    '0',
    '--ready-file',
    readyFile,
    '--data-dir',
    data,
    '--config-dir',
    join(folder, 'config'),
  ]
  const started = performance.now()
  const child = spawn(
    process.execPath,
    ['--max-semi-space-size=16', join(program, 'bin', 'svc'), ...args, '--log-level', 'warn', ...flags],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const { url, token } = await waitForReady(child, readyFile)
  await fetch(`${url}/readyz`)
  const readyAfter = performance.now() - started
  const stop = async () => {
    await end(child)
    rmSync(folder, { recursive: true, force: true })
  }
  return { url, token, pid: child.pid ?? 0, readyAfter, dataDir: data, stop }
}

async function waitForReady(child: ChildProcess, file: string): Promise<{ url: string; token: string }> {
  const deadline = Date.now() + 30_000
  while (!existsSync(file)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('the service did not become ready')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  return JSON.parse(readFileSync(file, 'utf8')) as { url: string; token: string }
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })
}
