// The ExecutionWorkspaces port by kubernetes-sigs/agent-sandbox: a claim of the service's for each workspace, programs
// in the pod of its sandbox. Nothing is held here that a restart would lose. Where the programs of a claim run is
// cached, so that a script costs no look at the claim and its sandbox.
import type { KubernetesApi } from '../../cluster/api.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { type Clock, type Ids, monotonicMs } from '../../lib/clock.ts'
import { createKeyedQueue } from '../../lib/keyed-queue.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import {
  type ExecutionWorkspaces,
  type ReadyWorkspace,
  type WorkspaceClaim,
  WorkspaceError,
} from '../../ports/workspaces/execution-workspaces.ts'
import type { PodGate } from '../jobs/pod-gate.ts'
import {
  type ClaimParts,
  ensureClaim,
  explainUnready,
  listClaims,
  nameClaim,
  podNameOf,
  removeSandbox,
  resumeSandbox,
  suspendSandbox,
  waitForSandbox,
} from './claims.ts'
import { observe, prepare, scrub, stage, start, stop } from './commands.ts'
import { explainClusterFault } from './faults.ts'
import { limitClaim } from './network.ts'
import { chooseContainer, isSuspended, judgeClaim, type SandboxClaim, type SandboxObject } from './objects.ts'
import { createInstallation, createReader } from './reader.ts'
import type { SandboxAddress, SandboxShell } from './shell.ts'
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
  /** Absent: sandboxes have the network of their template. */
  gate?: PodGate | undefined
}

type Waiting = { timeoutMs: number; signal: AbortSignal; seen?: SandboxClaim | undefined }

/** Until the time is up; the error then says what was waited for. */
async function awaitReady(parts: ClaimParts, claim: WorkspaceClaim, waiting: Waiting): Promise<SandboxObject> {
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
    const obstacle = signal.aborted ? undefined : await explainUnready(parts, claim)
    const message = `the sandbox of ${nameClaim(claim)} was not ready ${when}: ${obstacle ?? why}`
    throw new WorkspaceError('ClaimTimeout', message)
  }
}

export function createAgentSandboxes(options: AgentSandboxOptions): ExecutionWorkspaces {
  const { api, clock, shell, gate, graceSeconds = 10 } = options
  const installation = createInstallation(api)
  const parts: ClaimParts = { ...options, reader: createReader({ api, installation }) }
  /** Claims that this process made, and that nobody has used yet. */
  const made = new Set<string>()
  /** By claim: what is ended in a workspace must not be another call of the service's own. */
  const queue = createKeyedQueue()
  const addresses = createSandboxAddresses(parts)

  /** What does not answer may come back as another version. */
  async function explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const failure = explainClusterFault(error)
      if (failure instanceof WorkspaceError && failure.reason === 'ProviderUnavailable') installation.forget()
      throw failure
    }
  }

  async function waitUntilReady(claim: WorkspaceClaim, waiting: Waiting): Promise<ReadyWorkspace> {
    const startedAt = monotonicMs(clock)
    const seen = await parts.reader.claim(claim)
    const resumed = await resumeSandbox(parts, seen)
    const sandbox = await awaitReady(parts, claim, { ...waiting, ...(!resumed && { seen }) })
    const { address } = addresses.remember(claim, sandbox)
    const root = await queue.run(nameClaim(claim), () => prepare(shell, address, sandbox))
    const placement = sandbox.status?.nodeName
    return {
      reused: !made.delete(nameClaim(claim)),
      root,
      ...(placement !== undefined && { placement }),
      ...(resumed && { resumeMs: monotonicMs(clock) - startedAt }),
    }
  }

  /** In the pod, one after the other. */
  function inside<T>(
    claim: ResourceKey,
    work: (address: SandboxAddress, sandbox: SandboxObject) => Promise<T>,
  ): Promise<T> {
    return queue.run(nameClaim(claim), () =>
      explained(() => addresses.visit(claim, ({ address, sandbox }) => work(address, sandbox))),
    )
  }

  return {
    claim: (claim) =>
      explained(async () => {
        if (await ensureClaim(parts, claim)) made.add(nameClaim(claim))
      }),
    observe: (claim) => explained(async () => judgeClaim(await parts.reader.claim(claim))),
    waitUntilReady: (claim, waiting) => explained(() => waitUntilReady(claim, waiting)),
    ...(gate && {
      limitNetwork: (claim, isLimited) => explained(() => limitClaim({ ...parts, gate }, claim, isLimited)),
    }),
    stage: (claim, files) => inside(claim, (address) => stage(shell, address, files)),
    start: (claim, command) => inside(claim, (address) => start(shell, address, { ...command, graceSeconds })),
    observeCommand: (claim, id) => inside(claim, (address) => observe(shell, address, id)),
    stop: (claim, id) => inside(claim, (address) => stop(shell, address, { id, graceSeconds })),
    scrub: (claim, paths) =>
      inside(claim, async (address, sandbox) => {
        // In a pod that took the place of another the files may still be there.
        await prepare(shell, address, sandbox)
        await scrub(shell, address, paths)
      }),
    suspend: (claim) =>
      explained(async () => {
        addresses.forget(claim)
        await suspendSandbox(parts, claim)
      }),
    delete: (claim) =>
      explained(async () => {
        addresses.forget(claim)
        await removeSandbox(parts, claim)
        made.delete(nameClaim(claim))
      }),
    list: () => listClaims(parts),
  }
}

type LocatedSandbox = { sandbox: SandboxObject; address: SandboxAddress }

type SandboxAddresses = {
  remember(claim: ResourceKey, sandbox: SandboxObject): LocatedSandbox
  forget(claim: ResourceKey): void
  /** Where it was at the last visit; where it is now, when that is gone. WorkspaceLost where nothing runs. */
  visit<T>(claim: ResourceKey, work: (found: LocatedSandbox) => Promise<T>): Promise<T>
}

/** Another replica may delete a claim that is remembered here. */
const maxRemembered = 2000

function locate(sandbox: SandboxObject): LocatedSandbox {
  const { namespace, name } = sandbox.metadata
  const container = chooseContainer(sandbox.spec ?? {})?.name ?? name
  const [podIP] = sandbox.status?.podIPs ?? []
  return { sandbox, address: { namespace, sandbox: name, pod: podNameOf(sandbox), container, podIP } }
}

async function look({ reader }: Pick<ClaimParts, 'reader'>, key: ResourceKey): Promise<LocatedSandbox> {
  const claim = await reader.claim(key)
  const sandbox = claim && (await reader.sandboxOf(claim))
  if (sandbox !== undefined && !isSuspended(sandbox)) return locate(sandbox)
  throw new WorkspaceError('WorkspaceLost', `${nameClaim(key)} has no sandbox that runs`)
}

function isLost(error: unknown): boolean {
  return error instanceof WorkspaceError && error.reason === 'WorkspaceLost'
}

function createSandboxAddresses(parts: Pick<ClaimParts, 'reader'>): SandboxAddresses {
  const known = new BoundedMap<string, LocatedSandbox>({ max: maxRemembered })

  const keep = (claim: ResourceKey, found: LocatedSandbox) => known.set(nameClaim(claim), found)

  async function visitFound<T>(
    claim: ResourceKey,
    found: LocatedSandbox,
    work: (found: LocatedSandbox) => Promise<T>,
  ): Promise<T> {
    const answer = await work(found)
    keep(claim, found)
    return answer
  }

  async function visit<T>(claim: ResourceKey, work: (found: LocatedSandbox) => Promise<T>): Promise<T> {
    const before = known.get(nameClaim(claim))
    if (before === undefined) return visitFound(claim, await look(parts, claim), work)
    try {
      return await work(before)
    } catch (error) {
      known.delete(nameClaim(claim))
      if (!isLost(error)) throw error
      const now = await look(parts, claim)
      if (now.address.pod === before.address.pod) throw error
      return visitFound(claim, now, work)
    }
  }

  return {
    visit,
    remember(claim, sandbox) {
      const found = locate(sandbox)
      keep(claim, found)
      return found
    },
    forget: (claim) => void known.delete(nameClaim(claim)),
  }
}
