// Execution workspaces that are actors: made, resumed and suspended by the control service; commands and files go
// through their daemon.
import {
  type CommandState,
  type ExecutionWorkspaces,
  type ListedWorkspace,
  type WorkspaceClaim,
  WorkspaceError,
  type WorkspaceFailure,
  type WorkspaceProblem,
} from '../../ports/workspaces/execution-workspaces.ts'
import { readRoot } from '../../rules/workspaces/actor-templates.ts'
import type { Actor } from './control.ts'
import { type Daemon, joinRoot, openDaemon } from './daemon.ts'
import { type ActorParts, createReadiness, identityFile } from './readiness.ts'
import { describeActor, nameWorkspaceActors, removeActor, suspendActor } from './state.ts'
import { type ActorClaims, createActorClaims } from './templates.ts'

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
        return await makeReady(claim, { signal: limit, onWait: (message) => (last = message) })
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

/** Names the file to what runs inside. */
const identityVariable = 'SVC_SESSION_IDENTITY_FILE'
const wakeMs = 60_000

type Open = <T>(claim: WorkspaceClaim, use: (inside: Inside) => Promise<T>) => Promise<T>
type Inside = { daemon: Daemon; token: string; root: string }

/** Staging root of the template, which never changes (its spec is immutable). */
function createRoots(claims: ActorClaims) {
  const known = new Map<string, string>()
  return async (claim: WorkspaceClaim): Promise<string> => {
    const key = `${claim.template.namespace}/${claim.template.name}`
    const root = known.get(key) ?? readRoot((await claims.requireTemplate(claim)).annotations)
    known.set(key, root)
    return root
  }
}

function createInside(options: ActorParts, claims: ActorClaims) {
  const rootOf = createRoots(claims)
  const { refOf } = nameWorkspaceActors(options.installation)
  const { router, tokens, control, mintIdentity } = options
  const open: Open = async (claim, use) => {
    const ref = refOf(claim)
    const actor = await control.get(ref)
    // Asking a suspended actor would wake it.
    if (actor?.status !== 'STATUS_RUNNING') throw explainAbsence(actor)
    const daemon = openDaemon(router, ref)
    const root = await rootOf(claim)
    return tokens.use(ref, daemon, (token) => use({ daemon, token, root }))
  }

  return {
    stage: (claim, files) =>
      open(claim, ({ daemon, token, root }) =>
        daemon.putFiles(
          files.map((file) => ({ ...file, path: joinRoot(root, file.path) })),
          token,
        ),
      ),
    start: (claim, command) =>
      open(claim, ({ daemon, token, root }) => {
        const { workDir = root } = command
        const own: Record<string, string> =
          mintIdentity === undefined ? {} : { [identityVariable]: joinRoot(root, identityFile) }
        const at = { workDir: workDir.startsWith('/') ? workDir : joinRoot(root, workDir) }
        return daemon.start({ ...command, ...at, env: { ...own, ...command.env } }, token)
      }),
    observeCommand: (claim, id) => open<CommandState>(claim, ({ daemon, token }) => daemon.observe(id, token)),
    stop: (claim, id) => unlessLost(open(claim, ({ daemon, token }) => daemon.stop(id, token))),
    async scrub(claim, paths) {
      const actor = await control.get(refOf(claim))
      // Its files are those that it had when it was suspended.
      if (actor !== undefined && describeActor(actor).phase === 'Suspended') {
        await control.resume(refOf(claim), false, AbortSignal.timeout(wakeMs))
      }
      const scrubbed = [...paths, identityFile]
      await unlessLost(
        open(claim, ({ daemon, token, root }) =>
          daemon.scrub(
            scrubbed.map((path) => joinRoot(root, path)),
            token,
          ),
        ),
      )
    },
  } satisfies Partial<ExecutionWorkspaces>
}

/** One that is on its way may come yet. */
function explainAbsence(actor: Actor | undefined): WorkspaceError {
  const whose = 'the actor of the workspace'
  if (actor === undefined) return new WorkspaceError('WorkspaceLost', `${whose} is gone`)
  const { phase } = describeActor(actor)
  const reason = actor.status === 'STATUS_RESUMING' ? 'ProviderUnavailable' : 'WorkspaceLost'
  return new WorkspaceError(reason, `${whose} is not running (${phase})`)
}

/** What is not there any more has nothing to stop, and keeps no secret. */
async function unlessLost(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof WorkspaceError && error.reason === 'WorkspaceLost')) throw error
  }
}
