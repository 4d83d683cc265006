// The ExecutionWorkspaces port by kubernetes-sigs/agent-sandbox: a claim of the service's for each workspace, programs in
// the pod of its sandbox. Nothing is held here that a restart would lose.

import type { KubernetesApi } from '../../cluster/api.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import {
  type ExecutionWorkspaces,
  type ReadyWorkspace,
  type WorkspaceClaim,
  WorkspaceError,
} from '../../ports/workspaces/execution-workspaces.ts'
import { type ClaimParts, ensureClaim, listClaims, nameClaim, waitForSandbox } from './claims.ts'
import { observe, prepare, scrub, stage, start, stop } from './commands.ts'
import { explainFault } from './faults.ts'
import { createInstallation } from './installation.ts'
import { removeSandbox, resumeSandbox, suspendSandbox } from './lifecycle.ts'
import { createLine } from './line.ts'
import type { Sandbox, SandboxClaim } from './objects.ts'
import { findObstacle } from './obstacle.ts'
import { createPlaces } from './places.ts'
import { createReader } from './reader.ts'
import type { SandboxPlace, SandboxShell } from './shell.ts'
import { judgeClaim } from './state.ts'
import type { WarmPoolPolicy } from './templates.ts'

export type AgentSandboxOptions = {
  api: KubernetesApi
  clock: Clock
  ids: Ids
  /** Runs scripts in sandboxes. */
  shell: SandboxShell
  /** Identifies this installation on the cluster: the value of a label. */
  instance: string
  /** Where claims can be; absent or empty: anywhere. */
  namespaces?: readonly string[] | undefined
  warmPoolPolicy: WarmPoolPolicy
  /** From TERM to KILL, of a command; 10 s. */
  graceSeconds?: number
}

type Waiting = { timeoutMs: number; signal: AbortSignal; seen?: SandboxClaim | undefined }

/** Until the time is up; the error then says what was waited for. */
async function awaitReady(parts: ClaimParts, claim: WorkspaceClaim, waiting: Waiting): Promise<Sandbox> {
  const { timeoutMs, signal, seen } = waiting
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  let why = 'agent-sandbox has not answered'
  const onPending = (message: string) => {
    why = message
  }
  try {
    return await waitForSandbox(parts, claim, { signal: limit, seen, onPending })
  } catch (error) {
    if (!limit.aborted) throw error
    const when = signal.aborted ? 'before the wait was given up' : `after ${timeoutMs / 1000} s`
    const obstacle = signal.aborted ? undefined : await findObstacle(parts, claim)
    const message = `the sandbox of ${nameClaim(claim)} was not ready ${when}: ${obstacle ?? why}`
    throw new WorkspaceError('ClaimTimeout', message)
  }
}

export function createAgentSandboxes(options: AgentSandboxOptions): ExecutionWorkspaces {
  const { api, clock, shell, graceSeconds = 10 } = options
  const installation = createInstallation(api)
  const parts: ClaimParts = { ...options, reader: createReader({ api, installation }) }
  /** Claims that this process made, and that nobody has used yet. */
  const made = new Set<string>()
  const line = createLine()
  const places = createPlaces(parts)

  /** What does not answer may come back as another version. */
  async function explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const failure = explainFault(error)
      if (failure instanceof WorkspaceError && failure.reason === 'ProviderUnavailable') installation.forget()
      throw failure
    }
  }

  async function waitUntilReady(claim: WorkspaceClaim, waiting: Waiting): Promise<ReadyWorkspace> {
    const startedAt = clock.now().getTime()
    const seen = await parts.reader.claim(claim)
    const resumed = await resumeSandbox(parts, seen)
    const sandbox = await awaitReady(parts, claim, { ...waiting, ...(!resumed && { seen }) })
    const { place } = places.remember(claim, sandbox)
    const root = await line.join(nameClaim(claim), () => prepare(shell, place, sandbox))
    const placement = sandbox.status?.nodeName
    return {
      reused: !made.delete(nameClaim(claim)),
      root,
      ...(placement !== undefined && { placement }),
      ...(resumed && { resumeMs: clock.now().getTime() - startedAt }),
    }
  }

  /** In the pod, one after the other. */
  function inside<T>(claim: ResourceKey, work: (place: SandboxPlace, sandbox: Sandbox) => Promise<T>): Promise<T> {
    return line.join(nameClaim(claim), () =>
      explained(() => places.visit(claim, ({ place, sandbox }) => work(place, sandbox))),
    )
  }

  return {
    claim: (claim) =>
      explained(async () => {
        if (await ensureClaim(parts, claim)) made.add(nameClaim(claim))
      }),
    observe: (claim) => explained(async () => judgeClaim(await parts.reader.claim(claim))),
    waitUntilReady: (claim, waiting) => explained(() => waitUntilReady(claim, waiting)),
    stage: (claim, files) => inside(claim, (place) => stage(shell, place, files)),
    start: (claim, command) => inside(claim, (place) => start(shell, place, { ...command, graceSeconds })),
    observeCommand: (claim, id) => inside(claim, (place) => observe(shell, place, id)),
    stop: (claim, id) => inside(claim, (place) => stop(shell, place, { id, graceSeconds })),
    scrub: (claim, paths) =>
      inside(claim, async (place, sandbox) => {
        // In a pod that took the place of another the files may still be there.
        await prepare(shell, place, sandbox)
        await scrub(shell, place, paths)
      }),
    suspend: (claim) =>
      explained(async () => {
        places.forget(claim)
        await suspendSandbox(parts, claim)
      }),
    delete: (claim) =>
      explained(async () => {
        places.forget(claim)
        await removeSandbox(parts, claim)
        made.delete(nameClaim(claim))
      }),
    list: () => listClaims(parts),
  }
}
