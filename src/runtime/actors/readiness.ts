// From an actor that exists to one whose daemon obeys this service.
import {
  type ReadyWorkspace,
  type WorkspaceClaim,
  WorkspaceError,
} from '../../ports/workspaces/execution-workspaces.ts'
import { readRoot } from '../../rules/workspaces/actor-templates.ts'
import type { ActorClaims } from './claims.ts'
import type { Actor } from './control.ts'
import { joinRoot, openDaemon } from './daemon.ts'
import { type ActorParts, identityFile } from './parts.ts'
import { describePlacement } from './placement.ts'
import { createResumption, repeatUntilAble, type Waiting } from './resumption.ts'
import { nameWorkspaceActors } from './state.ts'

type Start = { claim: WorkspaceClaim; actor: Actor; root: string }

export function createReadiness(options: ActorParts, claims: ActorClaims) {
  const { control, clock, router, tokens, mintIdentity } = options
  const { refOf } = nameWorkspaceActors(options.installation)
  const resume = createResumption({ control, clock })

  async function begin(claim: WorkspaceClaim, { tell }: Waiting): Promise<Start> {
    const { annotations, unready } = await claims.requireTemplate(claim)
    if (unready !== undefined) {
      tell(unready.message)
      throw new WorkspaceError('ProviderUnavailable', unready.message)
    }
    const actor = await control.get(refOf(claim))
    if (actor === undefined) throw new WorkspaceError('WorkspaceLost', 'the actor of the workspace is gone')
    return { claim, actor, root: readRoot(annotations) }
  }

  async function wake({ claim, actor }: Start, waiting: Waiting): Promise<number | undefined> {
    if (actor.status === 'STATUS_RUNNING') return undefined
    const from = clock.now().getTime()
    const { namespace, name } = claim.pool ?? claim.template
    const isFirst = actor.latest_snapshot_info === null
    await resume({ ref: refOf(claim), queue: `${namespace}/${name}`, boot: isFirst && claim.boot === true }, waiting)
    return clock.now().getTime() - from
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
    const start = await repeatUntilAble(clock, waiting, () => begin(claim, waiting))
    const resumeMs = await wake(start, waiting)
    const isKnown = await repeatUntilAble(clock, waiting, () => introduce(start))
    const reused = isKnown || start.actor.latest_snapshot_info !== null
    const timed = resumeMs === undefined ? {} : { resumeMs }
    return { reused, root: start.root, ...timed, ...(await describePlacement(control, refOf(claim))) }
  }
}
