// Makes and resumes the actors of workspaces until their daemon accepts this service. While no worker is free they
// wait, those of one pool in the order in which they came.
import { type Backoff, delayMs } from '../../lib/backoff.ts'
import { type Clock, type Ids, monotonicMs } from '../../lib/clock.ts'
import { createKeyedQueue } from '../../lib/keyed-queue.ts'
import {
  type ReadyWorkspace,
  type WorkspaceClaim,
  WorkspaceError,
} from '../../ports/workspaces/execution-workspaces.ts'
import { readRoot } from '../../rules/workspaces/actor-templates.ts'
import type { Actor, ActorControl, ActorRef } from './control.ts'
import { joinRoot, openDaemon, type Router } from './daemon.ts'
import { nameWorkspaceActors } from './state.ts'
import type { ActorClaims, ActorTemplates } from './templates.ts'
import type { DaemonTokens, MintIdentity } from './tokens.ts'

export type ActorParts = {
  control: ActorControl
  /** A part of a DNS label that no other installation of the service has. */
  installation: string
  templates: ActorTemplates
  router: Router
  tokens: DaemonTokens
  /** Absent: sessions have no identity. */
  mintIdentity?: MintIdentity | undefined
  clock: Clock
  ids: Pick<Ids, 'random'>
}

/** Relative to the root. */
export const identityFile = '.svc/session-identity'

type Start = { claim: WorkspaceClaim; actor: Actor; root: string }

export function createReadiness(options: ActorParts, claims: ActorClaims) {
  const { control, clock, router, tokens, mintIdentity } = options
  const { refOf } = nameWorkspaceActors(options.installation)
  const resume = createResumption(options)

  async function begin(claim: WorkspaceClaim, { onWait }: Waiting): Promise<Start> {
    const { annotations, unready } = await claims.requireTemplate(claim)
    if (unready !== undefined) {
      onWait(unready.message)
      throw new WorkspaceError('ProviderUnavailable', unready.message)
    }
    const actor = await control.get(refOf(claim))
    if (actor === undefined) throw new WorkspaceError('WorkspaceLost', 'the actor of the workspace is gone')
    return { claim, actor, root: readRoot(annotations) }
  }

  async function wake({ claim, actor }: Start, waiting: Waiting): Promise<number | undefined> {
    if (actor.status === 'STATUS_RUNNING') return undefined
    const from = monotonicMs(clock)
    const { namespace, name } = claim.pool ?? claim.template
    const isFirst = actor.latest_snapshot_info === null
    await resume({ ref: refOf(claim), queue: `${namespace}/${name}`, boot: isFirst && claim.boot === true }, waiting)
    return monotonicMs(clock) - from
  }

  async function introduce({ claim, root }: Start): Promise<boolean> {
    const daemon = openDaemon(router, refOf(claim))
    const isKnown = await tokens.handOver(refOf(claim), daemon, root)
    const identity = await mintIdentity?.(refOf(claim))
    if (identity !== undefined) {
      const file = { path: joinRoot(root, identityFile), bytes: Buffer.from(identity), mode: 0o600 }
      await tokens.use(refOf(claim), daemon, (token) => daemon.putFiles([file], token))
    }
    return isKnown
  }

  return async (claim: WorkspaceClaim, waiting: Waiting): Promise<ReadyWorkspace> => {
    const start = await repeatUntilAble(options, waiting, () => begin(claim, waiting))
    const resumeMs = await wake(start, waiting)
    const isKnown = await repeatUntilAble(options, waiting, () => introduce(start))
    const reused = isKnown || start.actor.latest_snapshot_info !== null
    const timed = resumeMs === undefined ? {} : { resumeMs }
    return { reused, root: start.root, ...timed, ...(await describePlacement(control, refOf(claim))) }
  }
}

const backoff: Backoff = { firstMs: 100, maxMs: 2000 }

type Timing = { clock: Clock; ids: Pick<Ids, 'random'> }

type Waiting = {
  signal: AbortSignal
  /** Hears what it waits for. */
  onWait(message: string): void
}

/** Repeats what the provider cannot do yet, until the signal. */
async function repeatUntilAble<T>({ clock, ids }: Timing, waiting: Waiting, run: () => Promise<T>): Promise<T> {
  const { signal, onWait } = waiting
  for (let failures = 1; ; failures += 1) {
    signal.throwIfAborted()
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof WorkspaceError && error.reason === 'ProviderUnavailable')) throw error
      // A call that was cancelled says nothing about the provider.
      signal.throwIfAborted()
      onWait(error.message)
    }
    await clock.sleep(delayMs(backoff, failures, ids.random()), signal)
  }
}

type Wanted = { ref: ActorRef; queue: string; boot: boolean }

function createResumption({ control, ...timing }: Timing & { control: ActorControl }) {
  const queues = createKeyedQueue()
  return ({ ref, queue, boot }: Wanted, waiting: Waiting): Promise<Actor> =>
    queues.run(
      queue,
      () => repeatUntilAble(timing, waiting, () => control.resume(ref, boot, waiting.signal)),
      waiting.signal,
    )
}

/** Only for people: nothing fails when it is not known. */
async function describePlacement(
  control: ActorControl,
  { atespace, name }: ActorRef,
): Promise<Pick<ReadyWorkspace, 'placement' | 'density'>> {
  const workers = await control.listWorkers().catch(() => [])
  const own = workers.find((worker) => worker.actor_id === name && worker.actor_atespace === atespace)
  if (own === undefined || own.node_name === '') return {}
  const sharing = workers.filter((worker) => worker.node_name === own.node_name && worker.actor_id !== '')
  return { placement: own.node_name, density: sharing.length }
}
