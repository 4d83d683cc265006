// The worker program in a pod of its own: its assignment and its token are mounted files, its outcome is the pod's
// termination message. The service may come and go meanwhile: a worker that cannot reach it waits, as it calls.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { mountedFiles } from '../contract/api/worker-pod.ts'
import { messageOf } from '../errors.ts'
import type { WorkerDeps } from './deps.ts'
import { type AttemptOutcome, failRun } from './outcome.ts'
import { runAssignment } from './run-assignment.ts'

export type PodWorkerProgram = {
  load: () => Promise<WorkerDeps>
  /** Aborts when the pod is told to end (TERM). */
  stop: AbortSignal
  /** Where the mounted files are; `/` but in tests. */
  root?: string
}

/** The most of a termination message that the kubelet keeps. */
const longestOutcome = 4096

type File = { folder: string; name: string }

function locate(root: string, { folder, name }: File): string {
  return join(root, folder, name)
}

/** The token as it is now: the kubelet renews it. */
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
  // Beside being sent, it is cut from whatever the model and the logs get to see.
  assignment.api.token = await readMountedToken(root)
  return assignment
}

/** The pod may have waited for its node or its image: the time of the attempt begins now (TASK-041). */
export function beginTime<A extends Mounted>(assignment: A, now: Date): A {
  const { timeoutMs } = assignment
  return timeoutMs === undefined
    ? assignment
    : { ...assignment, deadline: new Date(now.getTime() + timeoutMs).toISOString() }
}

/** A message that is too long keeps its beginning. */
function writeOutcome(outcome: AttemptOutcome): string {
  const text = JSON.stringify(outcome)
  if (outcome.ok || Buffer.byteLength(text) <= longestOutcome) return text
  return JSON.stringify({ ...outcome, message: `${outcome.message.slice(0, longestOutcome / 8)} [cut]` })
}

async function runMounted({ load, stop }: PodWorkerProgram, root: string): Promise<AttemptOutcome> {
  try {
    const [assignment, deps] = await Promise.all([readAssignment(root), load()])
    return await runAssignment(JSON.stringify(beginTime(assignment, deps.clock.now())), deps, stop)
  } catch (error) {
    return failRun('Internal', `The worker could not begin: ${messageOf(error)}`)
  }
}

/** Runs to the end and answers the exit code: 0 its result is submitted, 1 it failed. */
export async function runPodWorker(program: PodWorkerProgram): Promise<number> {
  const root = program.root ?? '/'
  const outcome = await runMounted(program, root)
  await writeFile(join(root, mountedFiles.outcome), writeOutcome(outcome))
  return outcome.ok ? 0 : 1
}
