// What is done with the checkout of one attempt: brought into its pod, and read there when its program has ended.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ApiConnection } from '../../../cluster/api/connection.ts'
import type { KubernetesApi } from '../../../cluster/api.ts'
import { notesForLog } from '../../../contract/api/tasks/log-marks.ts'
import type { Clock } from '../../../lib/clock.ts'
import { removeTree } from '../../../lib/tree-removal.ts'
import type { Logs } from '../../../ports/tasks/outputs.ts'
import type { AttemptCheckout, AttemptKey, CommandOutput, WorkloadState } from '../../../ports/tasks/workloads.ts'
import { type Checkout, CheckoutError, type CheckoutSpec } from '../../../ports/workspaces/checkouts.ts'
import { type CheckoutParts, createChangesSaver, describeCheckout } from '../../attempts/checkout-changes.ts'
import { type Attempt, openAttemptFolder, podOf } from '../attempts.ts'
import { readLastSeq, writePosition } from '../log-intake.ts'
import { type AttemptNames, jobs, nameJob, type Pod, podAnnotations } from '../objects.ts'
import { fillPod, readPod } from './transfer.ts'

export type PodCheckoutParts = CheckoutParts & {
  /** What an attempt works in that an earlier process began. Undefined: its task names no repository any more. */
  find(attempt: AttemptNames): Promise<AttemptCheckout | undefined>
  /** Whether its result is stored, changes included. */
  isStored(key: AttemptKey): Promise<boolean>
}

export type PodCheckoutOptions = {
  api: KubernetesApi
  connection: ApiConnection
  clock: Clock
  logs: Logs
  parts: PodCheckoutParts
  /** Holds the private side of checkouts while their attempts run. */
  folder: string
}

type ReadOutput = () => Promise<CommandOutput | undefined>

const tries = 5
const pauseMs = 2000
const defaultBytes = 10 * 1024 ** 3

export function nameFolder({ taskUid, attempt }: AttemptKey): string {
  return `${taskUid}-${attempt}`
}

function folderOf({ folder }: PodCheckoutOptions, { key }: Attempt): string {
  return join(folder, nameFolder(key))
}

function logger({ logs }: PodCheckoutOptions, { key }: Attempt) {
  return (lines: string[]) => logs.append(key, notesForLog(lines))
}

async function findCheckout({ parts }: PodCheckoutOptions, attempt: Attempt): Promise<AttemptCheckout> {
  const own = openAttemptFolder(attempt)
  own.checkout ??= await parts.find(attempt)
  if (own.checkout !== undefined) return own.checkout
  throw new CheckoutError('RepositoryMissing', 'The task names no repository any more.')
}

/** For whoever goes on with it. What the pod logs comes after the lines that stand in the log by then. */
async function noteBase({ api, logs }: PodCheckoutOptions, attempt: Attempt, base: string): Promise<void> {
  const { namespace, taskName, key } = attempt
  const position = { stamp: 0n, seq: await readLastSeq(logs, key.taskUid) }
  attempt.logStart = position
  openAttemptFolder(attempt).base = base
  const notes = { [podAnnotations.checkoutBase]: base, [podAnnotations.logPosition]: writePosition(position) }
  const body = { metadata: { annotations: notes } }
  const name = nameJob(taskName, key)
  await api.request({ verb: 'patch', patch: 'merge', collection: jobs, namespace, name, body })
}

type InPod = { attempt: Attempt; signal: AbortSignal; work: (pod: Pod) => Promise<void> }

/** An exec is refused while its container is about to run, and a connection may break. */
async function withRetries({ clock }: PodCheckoutOptions, { attempt, signal, work }: InPod): Promise<void> {
  for (let left = tries; ; left -= 1) {
    signal.throwIfAborted()
    const pod = podOf(attempt)
    if (pod === undefined) throw new Error('its pod is gone')
    const failure = await work(pod).catch((error: unknown) => ({ error }))
    if (failure === undefined) return
    if (failure.error instanceof CheckoutError || left === 1) throw failure.error
    await clock.sleep(pauseMs, signal)
  }
}

/** Checks out, and brings the files into the pod that waits for them. */
export async function fill(options: PodCheckoutOptions, attempt: Attempt, signal: AbortSignal): Promise<void> {
  const folder = folderOf(options, attempt)
  const { spec } = await findCheckout(options, attempt)
  await makeRoom(options, folder)
  const opened = await options.parts.checkouts.prepare(spec, folder, signal)
  await logger(options, attempt)([describeCheckout(opened)])
  await noteBase(options, attempt, opened.baseSHA)
  const { connection } = options
  await withRetries(options, { attempt, signal, work: (pod) => fillPod({ connection, pod, folder, signal }) })
  openAttemptFolder(attempt).isFilled = true
  // Only the private side is needed from here on.
  await removeTree(folder)
  await mkdir(folder, { mode: 0o700 })
}

async function makeRoom(options: PodCheckoutOptions, folder: string): Promise<void> {
  await removeTree(folder)
  await mkdir(options.folder, { recursive: true, mode: 0o700 })
}

/** Another process did it first. Changes of an earlier task are in the pod already. */
async function checkOutAgain(
  options: PodCheckoutOptions,
  { attempt, spec: { priorDiff: _prior, priorPaths: _paths, ...spec }, signal }: Reading,
): Promise<Checkout> {
  const base = openAttemptFolder(attempt).base ?? attempt.job?.metadata.annotations?.[podAnnotations.checkoutBase]
  if (base === undefined) throw new Error('it is not known what was checked out')
  const folder = folderOf(options, attempt)
  await makeRoom(options, folder)
  return await options.parts.checkouts.prepare({ ...spec, ref: base }, folder, signal)
}

type Reading = { attempt: Attempt; spec: CheckoutSpec; signal: AbortSignal }

/** As it was checked out, with the files that are in the pod. */
async function readBack(options: PodCheckoutOptions, reading: Reading): Promise<Checkout> {
  const { attempt, spec, signal } = reading
  const { connection, parts } = options
  const folder = folderOf(options, attempt)
  const opened = (await parts.checkouts.resume(spec, folder)) ?? (await checkOutAgain(options, reading))
  const maxBytes = spec.limits?.bytes ?? defaultBytes
  await withRetries(options, { attempt, signal, work: (pod) => readPod({ connection, pod, folder, signal }, maxBytes) })
  return opened
}

async function openKeeper(options: PodCheckoutOptions, attempt: Attempt, signal: AbortSignal) {
  const checkout = await findCheckout(options, attempt)
  const { key, taskName } = attempt
  const saver = createChangesSaver(options.parts, { key, taskName, checkout, log: logger(options, attempt) })
  return { saver, open: () => readBack(options, { attempt, spec: checkout.spec, signal }) }
}

type Ended = { attempt: Attempt; state: WorkloadState; readOutput: ReadOutput; signal: AbortSignal }

/** Keeps what an ended attempt has changed. */
export async function keepEnded(options: PodCheckoutOptions, ended: Ended): Promise<void> {
  const { attempt, state, readOutput, signal } = ended
  // An earlier process did.
  if (state.phase === 'Succeeded' && (await options.parts.isStored(attempt.key))) return
  const { saver, open } = await openKeeper(options, attempt, signal)
  if (state.phase === 'Succeeded') await saver.save(await open(), await readOutput())
  else await saver.saveDiff(open)
}

/** Keeps what an attempt has changed that is being stopped: its program may still run. */
export async function keepStopped(options: PodCheckoutOptions, attempt: Attempt, signal: AbortSignal): Promise<void> {
  const { saver, open } = await openKeeper(options, attempt, signal)
  await saver.saveDiff(open)
}

export async function forget(options: PodCheckoutOptions, attempt: Attempt): Promise<void> {
  const folder = folderOf(options, attempt)
  const spec = attempt.folder?.checkout?.spec
  if (spec !== undefined) await (await options.parts.checkouts.resume(spec, folder))?.close()
  await removeTree(folder)
}
