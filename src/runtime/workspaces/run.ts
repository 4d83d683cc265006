// The run of one attempt in a workspace: claimed, waited for, filled, followed to its end, cleaned up.
import type { ExecutionWorkspaceStatus } from '../../contract/kinds/tasks/task.ts'
import { messageOf } from '../../errors.ts'
import { monotonicMs } from '../../lib/clock.ts'
import type { WorkloadSpec, WorkloadState } from '../../ports/tasks/workloads.ts'
import { type ReadyWorkspace, WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import type { WorkspaceHolder } from '../../ports/workspaces/workspace-records.ts'
import { noteFacts, type WorkspaceAttempt, type WorkspaceWorkloadsOptions } from './attempt.ts'
import { bringCheckout, forgetCheckout, takeCheckout } from './checkout.ts'
import { failedState, isProviderUnavailable, judgeEnd, withRetries } from './commands.ts'
import { guardNetwork } from './network.ts'
import { scrubWorkspace } from './scrub.ts'
import { commandFolder, stageWorker } from './staging.ts'

const firstPauseMs = 20
const maxPauseMs = 1000
/** A provider that does not answer for longer has lost what ran there. */
const absenceMs = 120_000
/** For cleaning up, when nobody waits any more. */
const cleanupMs = 120_000

type Reason = NonNullable<ExecutionWorkspaceStatus['reason']>

/** Undefined once this process has let go of the attempt. */
type End = WorkloadState | undefined

/** Deletes the workspace, or leaves it to the sweep; nobody gets it any more. */
export async function discard(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
): Promise<string | undefined> {
  const { records, clock } = options
  const { workspaces, key, holder, facts } = attempt
  await records.seize(key, holder)
  try {
    await withRetries(clock, AbortSignal.timeout(cleanupMs), () => workspaces.delete(facts.claim))
    await records.remove(key)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** Nothing of the attempt is in a workspace that it was still waiting for: the next one of the session may have it. */
async function abandon(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  { reason, wasReady }: AbandonedStep,
): Promise<void> {
  const isWaiting = reason === 'WorkspaceClaimFailed' || reason === 'WorkspaceReadinessFailed'
  if (isWaiting && wasReady && attempt.facts.cleanupPolicy === 'retain') {
    return options.records.release(attempt.key, attempt.holder)
  }
  await discard(options, attempt)
}

type AbandonedStep = { reason: Reason; wasReady: boolean }

async function failStep(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  { error, ...step }: AbandonedStep & { error: unknown },
): Promise<End> {
  const message = messageOf(error)
  const { reason } = step
  await abandon(options, attempt, step)
  await options.report(attempt.holder, { phase: 'Failed', reason, message })
  if (attempt.stop !== undefined) return attempt.stop
  const details = error instanceof WorkspaceError ? `${error.reason}: ${message}` : message
  return failedState('StartFailed', `The execution workspace cannot be used. ${details}`, options.clock.now())
}

function describeReady({ reused, placement, density, resumeMs }: ReadyWorkspace): ExecutionWorkspaceStatus {
  return {
    phase: 'Ready',
    reason: 'WorkspaceReady',
    message: 'the workspace is ready',
    reused,
    ...(placement !== undefined && { placement }),
    ...(density !== undefined && { density: String(density) }),
    ...(resumeMs !== undefined && { resumeLatency: `${Math.round(resumeMs)}ms` }),
  }
}

/** A sentence of its own for each step that fails. */
class StepFailure extends Error {
  readonly step: Reason

  constructor(step: Reason, cause: unknown) {
    super(messageOf(cause), { cause })
    this.step = step
  }
}

async function inStep<T>(step: Reason, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw new StepFailure(step, cause)
  }
}

/** The same for whoever goes on with the attempt. */
function nameCommand({ taskUid, attempt }: WorkspaceHolder): string {
  return `run-${taskUid
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(-24)}-${attempt}`
}

async function prepare(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  spec: WorkloadSpec,
): Promise<void> {
  const { workspace, run } = spec
  if (workspace === undefined || run.kind !== 'worker') throw new Error('only workers run in workspaces')
  const { workspaces, holder, facts } = attempt
  const { signal } = attempt.stopping
  const { clock, report } = options
  await inStep(
    'WorkspaceClaimFailed',
    withRetries(clock, signal, () => workspaces.claim(facts.claim)),
  )
  await report(holder, {
    phase: 'Pending',
    reason: 'WorkspaceClaimed',
    message: 'waiting until the workspace is ready',
  })
  const wait = { timeoutMs: workspace.claimTimeoutSeconds * 1000, signal }
  const ready = await inStep('WorkspaceReadinessFailed', workspaces.waitUntilReady(facts.claim, wait))
  await inStep('WorkspaceReadinessFailed', guardNetwork(options, attempt, spec, ready))
  await noteFacts(options, attempt, { root: ready.root })
  await report(holder, describeReady(ready))
  const id = nameCommand(holder)
  const handOff = async () => {
    await bringCheckout(options, attempt, { wanted: spec.checkout, reused: ready.reused })
    const worker = { spec, assignment: run.assignment, workspace, ready }
    const command = await stageWorker(options, attempt, id, worker)
    signal.throwIfAborted()
    // Before it starts: whoever goes on looks for it, and cleans up when it was not started.
    await noteFacts(options, attempt, { command: id, startedAt: clock.now().toISOString() }, 'running')
    await withRetries(clock, signal, () => workspaces.start(facts.claim, command))
  }
  await inStep('WorkspaceHandoffFailed', handOff())
}

async function look({ workspaces, facts }: WorkspaceAttempt, startedAt: Date, now: Date): Promise<WorkloadState> {
  const state = await workspaces.observeCommand(facts.claim, facts.command ?? '')
  if (state.phase === 'Running') return { phase: 'Running', startedAt }
  if (state.phase === 'Ended') return judgeEnd(state, startedAt, now)
  return failedState('Stopped', 'the attempt was lost with its workspace', now)
}

/** While the provider does not answer, nothing is known; after a while the attempt is lost. */
function createLook(options: WorkspaceWorkloadsOptions, attempt: WorkspaceAttempt) {
  const { clock } = options
  const startedAt = new Date(attempt.facts.startedAt ?? clock.now())
  let seenAt = monotonicMs(clock)
  return async (): Promise<WorkloadState> => {
    try {
      const state = await look(attempt, startedAt, clock.now())
      seenAt = monotonicMs(clock)
      return state
    } catch (error) {
      const isAway = isProviderUnavailable(error) && monotonicMs(clock) - seenAt < absenceMs
      if (isAway) return { phase: 'Running', startedAt }
      return failedState('Stopped', `the attempt was lost: ${messageOf(error)}`, clock.now())
    }
  }
}

/** Waits for the end of the worker. */
async function follow(options: WorkspaceWorkloadsOptions, attempt: WorkspaceAttempt): Promise<End> {
  const { signal } = attempt.stopping
  const lookAgain = createLook(options, attempt)
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(maxPauseMs, pauseMs * 1.3)) {
    const state = await lookAgain()
    if (state.phase !== 'Running') return state
    await options.clock.sleep(pauseMs, signal).catch(() => undefined)
  }
  return attempt.isDetached ? undefined : attempt.stop
}

/** With all that it has left running. */
async function stopCommand({ workspaces, facts }: WorkspaceAttempt): Promise<void> {
  await workspaces.stop(facts.claim, facts.command ?? '').catch(() => undefined)
}

async function retain(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  isSuccess: boolean,
): Promise<void> {
  const { workspaces, facts, key, holder } = attempt
  if (facts.root === undefined) throw new Error('it has never been ready')
  await scrubWorkspace(options, attempt, { paths: [commandFolder(nameCommand(holder))], isSuccess })
  // An actor is resumed as fast as it is found running.
  if (key.provider === 'actor') await workspaces.suspend(facts.claim)
  await options.records.note(key, holder, { facts: { isSuspended: key.provider === 'actor' } })
  await options.records.release(key, holder)
  const message = 'the workspace is retained; the list of workspaces shows it'
  await options.report(holder, { phase: 'Retained', reason: 'WorkspaceRetained', message })
}

async function remove(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  why?: { reason: Reason; message: string },
) {
  const failure = await discard(options, attempt)
  if (failure !== undefined) {
    const message = `the workspace could not be deleted yet, and will be: ${failure}`
    return options.report(attempt.holder, { phase: 'Failed', reason: 'WorkspaceCleanupFailed', message })
  }
  const usual = { reason: 'WorkspaceDeleted' as const, message: 'the workspace is deleted' }
  return options.report(attempt.holder, { phase: why === undefined ? 'Deleted' : 'Failed', ...(why ?? usual) })
}

/** Nothing of the attempt is left when it returns, but what is to be kept. */
async function cleanUp(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  isSuccess = false,
): Promise<void> {
  if (attempt.facts.cleanupPolicy === 'delete') return remove(options, attempt)
  try {
    await retain(options, attempt, isSuccess)
  } catch (error) {
    const message = `the workspace is deleted, because it could not be scrubbed: ${messageOf(error)}`
    await remove(options, attempt, { reason: 'WorkspaceSecretScrubFailed', message })
  }
}

/** It may have been suspended with the service. */
async function wake({ workspaces, facts, stopping }: WorkspaceAttempt): Promise<void> {
  const wait = { timeoutMs: cleanupMs, signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(cleanupMs)]) }
  // What is wrong with it the next step says.
  await workspaces.waitUntilReady(facts.claim, wait).catch(() => undefined)
}

/** An attempt that an earlier process began. */
export async function adoptAttempt(options: WorkspaceWorkloadsOptions, attempt: WorkspaceAttempt): Promise<End> {
  await wake(attempt)
  return goOn(options, attempt)
}

/** Cleans up after an attempt of an earlier process that does not go on. */
export async function cleanUpLost(options: WorkspaceWorkloadsOptions, attempt: WorkspaceAttempt): Promise<End> {
  if (options.providers[attempt.key.provider] === undefined) {
    const message = `the workspace is deleted, because provider ${attempt.key.provider} is not enabled any more`
    await remove(options, attempt, { reason: 'WorkspaceDeleted', message })
    return { phase: 'Missing' }
  }
  await wake(attempt)
  await cleanUp(options, attempt)
  return { phase: 'Missing' }
}

/** From where its record says it is, to the end. */
async function goOn(options: WorkspaceWorkloadsOptions, attempt: WorkspaceAttempt): Promise<End> {
  const end = await follow(options, attempt)
  if (end === undefined) return undefined
  const isSuccess = end.phase === 'Succeeded'
  // An agent that has lost its worker would go on.
  if (!isSuccess) await stopCommand(attempt)
  const settled = await takeCheckout(options, attempt, end)
  if (attempt.isDetached) return undefined
  await cleanUp(options, attempt, isSuccess)
  return settled
}

/** From the start. Never rejects. */
export async function runAttempt(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  spec: WorkloadSpec,
): Promise<End> {
  const wasReady = attempt.facts.root !== undefined
  try {
    await prepare(options, attempt, spec)
  } catch (error) {
    if (attempt.isDetached) return undefined
    if (spec.checkout !== undefined) await forgetCheckout(options, attempt, spec.checkout.spec).catch(() => undefined)
    const known = error instanceof StepFailure ? { reason: error.step, error: error.cause } : undefined
    return failStep(options, attempt, { wasReady, ...(known ?? { reason: 'WorkspaceHandoffFailed', error }) })
  }
  attempt.state = { phase: 'Running', startedAt: new Date(attempt.facts.startedAt ?? options.clock.now()) }
  return goOn(options, attempt)
}
