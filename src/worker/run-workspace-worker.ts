// The worker program in an execution workspace: the assignment is its standard input, the outcome the last line that it
// prints. The service may restart meanwhile: a worker that cannot reach it waits and tries again.
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import {
  type WorkspaceReport,
  workspaceFiles,
  workspaceFolders,
  workspaceVariables,
} from '../contract/api/workspaces/execution-workspaces.ts'
import { messageOf } from '../errors.ts'
import type { WorkerDeps } from './deps.ts'
import { type AttemptOutcome, failRun } from './outcome.ts'
import { runAssignment } from './run-assignment.ts'
import { beginTime } from './run-pod-worker.ts'

export type WorkspaceWorkerProgram = {
  /** The folder of the attempt, in the workspace's folder of the service. */
  folder: string
  /** The WorkAssignment as gzipped JSON. */
  stdin: Readable
  load: () => Promise<WorkerDeps>
  /** Aborts when the worker is told to end (TERM). */
  stop: AbortSignal
  env: Record<string, string | undefined>
  print(line: string): void
}

type Assignment = { api: { token: string }; timeoutMs?: number }

const reportMs = 10_000

async function readAssignment(stdin: Readable): Promise<Assignment> {
  return JSON.parse((await promisify(gunzip)(await buffer(stdin))).toString('utf8')) as Assignment
}

/** Tells how the workspace is; the run does not depend on it. */
async function reportWorkspace(
  { env }: WorkspaceWorkerProgram,
  { fetch: doFetch = globalThis.fetch }: WorkerDeps,
  token: string,
  report: WorkspaceReport,
): Promise<void> {
  const endpoint = env[`${workspaceVariables}STATUS_ENDPOINT`]
  if (endpoint === undefined) return
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(reportMs)
  const sent = doFetch(endpoint, { method: 'POST', headers, body: JSON.stringify(report), signal })
  await sent.then((answer) => answer.body?.cancel()).catch(() => undefined)
}

async function runInside(program: WorkspaceWorkerProgram): Promise<AttemptOutcome> {
  const { folder, stdin, load, stop } = program
  const root = dirname(dirname(folder))
  const temporary = join(folder, workspaceFiles.temporary)
  const workspaceRoot = join(root, workspaceFolders.work)
  const [assignment, loaded] = await Promise.all([readAssignment(stdin), load()])
  // Whoever would join waits for the first of them.
  await Promise.all([temporary, workspaceRoot].map((path) => mkdir(path, { recursive: true, mode: 0o700 })))
  const deps = { ...loaded, workspaceRoot }
  const { token } = assignment.api
  await reportWorkspace(program, deps, token, { phase: 'Ready', reason: 'WorkspaceReady', message: 'the worker runs' })
  const outcome = await runAssignment(JSON.stringify(beginTime(assignment, deps.clock.now())), deps, stop)
  const message = outcome.ok ? 'the worker has ended' : 'the worker has failed'
  await reportWorkspace(program, deps, token, { phase: 'Released', reason: 'WorkspaceReleased', message })
  return outcome
}

/** Runs to the end and returns the exit code: 0 when the result is submitted, 1 when it failed. */
export async function runWorkspaceWorker(program: WorkspaceWorkerProgram): Promise<number> {
  const outcome = await runInside(program).catch((error: unknown) =>
    failRun('Internal', `The worker could not begin: ${messageOf(error)}`),
  )
  program.print(JSON.stringify(outcome))
  return outcome.ok ? 0 : 1
}
