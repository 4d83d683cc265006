// The worker program in its own pod: assignment and token are mounted files, the outcome is the pod's termination
// message. The service may restart meanwhile: a worker that cannot reach it waits and tries again.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { mountedFiles } from '../contract/api/tasks/worker-pod.ts'
import { messageOf } from '../errors.ts'
import type { WorkerDeps } from './deps.ts'
import { type AttemptOutcome, failRun } from './outcome.ts'
import { runAssignment } from './run-assignment.ts'

export type PodWorkerProgram = {
  load: () => Promise<WorkerDeps>
  /** Aborts when the pod is told to end (TERM). */
  stop: AbortSignal
  /** Where the mounted files are; `/` except in tests. */
  root?: string
}

/** The most of a termination message that the kubelet keeps. */
const maxOutcomeLength = 4096
/** Any time: nothing is done then. */
const aliveMs = 60_000

type File = { folder: string; name: string }

function locate(root: string, { folder, name }: File): string {
  return join(root, folder, name)
}

/** The current token: the kubelet renews it. */
export async function readMountedToken(root = '/'): Promise<string> {
  return (await readFile(locate(root, mountedFiles.token), 'utf8')).trim()
}

/** Calls with the token that is valid at that moment. */
export function createTokenFetch(readToken: () => Promise<string>, doFetch = globalThis.fetch): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${await readToken()}`)
    return doFetch(input, { ...init, headers })
  }
}

type Mounted = { api: { token?: string }; timeoutMs?: number }

async function readAssignment(root: string): Promise<Mounted> {
  const packed = await readFile(locate(root, mountedFiles.assignment))
  const assignment = JSON.parse((await promisify(gunzip)(packed)).toString('utf8')) as Mounted
  // It is not only sent, but also removed from whatever the model and the logs see.
  assignment.api.token = await readMountedToken(root)
  return assignment
}

/** The pod may have waited for its node or its image: the attempt's time starts now (TASK-041). */
export function beginTime<A extends Mounted>(assignment: A, now: Date): A {
  const { timeoutMs } = assignment
  return timeoutMs === undefined
    ? assignment
    : { ...assignment, deadline: new Date(now.getTime() + timeoutMs).toISOString() }
}

/** Cuts the end of a message that is too long. */
function writeOutcome(outcome: AttemptOutcome): string {
  const text = JSON.stringify(outcome)
  if (outcome.ok || Buffer.byteLength(text) <= maxOutcomeLength) return text
  return JSON.stringify({ ...outcome, message: `${outcome.message.slice(0, maxOutcomeLength / 8)} [cut]` })
}

async function runMounted({ load, stop }: PodWorkerProgram, root: string): Promise<AttemptOutcome> {
  try {
    const [assignment, deps] = await Promise.all([readAssignment(root), load()])
    return await runAssignment(JSON.stringify(beginTime(assignment, deps.clock.now())), deps, stop)
  } catch (error) {
    return failRun('Internal', `The worker could not begin: ${messageOf(error)}`)
  }
}

/** Runs to the end and returns the exit code: 0 when the result is submitted, 1 when it failed. */
export async function runPodWorker(program: PodWorkerProgram): Promise<number> {
  const root = program.root ?? '/'
  // A pause alone does not keep a process alive; the worker may have nothing else to do until another container is up, or
  // the service is back.
  const staysAlive = setInterval(() => undefined, aliveMs)
  try {
    const outcome = await runMounted(program, root)
    await writeFile(join(root, mountedFiles.outcome), writeOutcome(outcome))
    return outcome.ok ? 0 : 1
  } finally {
    clearInterval(staysAlive)
  }
}
