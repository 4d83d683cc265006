// Commands and files of running actors.
import {
  type CommandState,
  type ExecutionWorkspaces,
  type WorkspaceClaim,
  WorkspaceError,
} from '../../ports/workspaces/execution-workspaces.ts'
import { readRoot } from '../../rules/workspaces/actor-templates.ts'
import type { ActorClaims } from './claims.ts'
import type { Actor } from './control.ts'
import { type Daemon, joinRoot, openDaemon } from './daemon.ts'
import { type ActorParts, identityFile } from './parts.ts'
import { describeActor, nameWorkspaceActors } from './state.ts'

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

export function createInside(options: ActorParts, claims: ActorClaims) {
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
        const place = { workDir: workDir.startsWith('/') ? workDir : joinRoot(root, workDir) }
        return daemon.start({ ...command, ...place, env: { ...own, ...command.env } }, token)
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
