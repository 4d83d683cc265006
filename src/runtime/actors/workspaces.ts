// Execution workspaces that are actors: made, resumed and suspended by the control service, used through their daemon.
import {
  type ExecutionWorkspaces,
  type ListedWorkspace,
  WorkspaceError,
  type WorkspaceFailure,
  type WorkspaceProblem,
} from '../../ports/workspaces/execution-workspaces.ts'
import { type ActorClaims, createActorClaims } from './claims.ts'
import type { Actor } from './control.ts'
import { createInside } from './inside.ts'
import { removeActor, suspendActor } from './lifecycle.ts'
import type { ActorParts } from './parts.ts'
import { createReadiness } from './readiness.ts'
import { describeActor, nameWorkspaceActors } from './state.ts'

export function createActorWorkspaces(options: ActorParts): ExecutionWorkspaces {
  const { control, templates, clock } = options
  const { refOf, claimOf } = nameWorkspaceActors(options.installation)
  const claims = createActorClaims(templates)
  const makeReady = createReadiness(options, claims)
  /** The service does not say when an actor was made: not before it was first seen. */
  const seen = new Map<string, Date>()

  return {
    findProblem: (claim) => findLastingProblem(claims, claim),
    async claim(claim) {
      await claims.requireTemplate(claim)
      await control.create(refOf(claim), claim.template, await claims.requirePool(claim))
    },
    observe: async (claim) => describeActor(await control.get(refOf(claim))),
    async waitUntilReady(claim, { timeoutMs, signal }) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      let last = 'it did not become ready'
      try {
        return await makeReady(claim, { signal: limit, tell: (message) => (last = message) })
      } catch (error) {
        if (!limit.aborted) throw error
        throw new WorkspaceError('ClaimTimeout', `the actor was not ready in time: ${last}`, { cause: error })
      }
    },
    ...createInside(options, claims),
    suspend: (claim) => suspendActor(control, refOf(claim)),
    async delete(claim) {
      await removeActor(control, refOf(claim))
      seen.delete(claim.name)
    },
    async *list() {
      for await (const actor of control.list()) {
        const name = claimOf(actor.actor_id)
        if (name === undefined) continue
        const createdAt = seen.get(name) ?? clock.now()
        seen.set(name, createdAt)
        yield describeListed(actor, { name, createdAt })
      }
    },
  }
}

const lasting: readonly WorkspaceFailure[] = ['TemplateIncompatible', 'PoolIncompatible']

/** A template that is missing may be made yet. */
async function findLastingProblem(
  claims: ActorClaims,
  claim: Parameters<ActorClaims['requirePool']>[0],
): Promise<WorkspaceProblem | undefined> {
  try {
    await claims.requireTemplate(claim)
    await claims.requirePool(claim)
    return undefined
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error
    if (!lasting.includes(error.reason)) return undefined
    return { of: error.reason === 'PoolIncompatible' ? 'poolRef' : 'templateRef', message: error.message }
  }
}

function describeListed(actor: Actor, { name, createdAt }: { name: string; createdAt: Date }): ListedWorkspace {
  const template = { namespace: actor.actor_template_namespace, name: actor.actor_template_name }
  const claim = { namespace: actor.atespace, name, template, labels: {} }
  return { claim, state: describeActor(actor), createdAt }
}
