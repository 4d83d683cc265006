// Everything that a confined program sees, as arguments of bubblewrap. Later mounts cover earlier ones, so the order
// matters.
import { workspaceInside } from '../../attempts/inside.ts'
import { type Bubblewrap, leafArguments } from './bubblewrap.ts'
import {
  type Bind,
  bindArguments,
  environmentArguments,
  maskArguments,
  procArguments,
  rootArguments,
  sealArguments,
} from './root-folder.ts'

export type ConfinedView = {
  bubblewrap: Bubblewrap
  network: boolean
  /** Size of /tmp and of /dev/shm. */
  temporaryBytes: number
  /** Whether it may create sandboxes itself. */
  nests: boolean
  /** Whether /proc is read-only. */
  sealsProc: boolean
  /** Whether it goes on when whoever started it ends. */
  outlives?: boolean
  binds: Bind[]
  /** Folders of the host that `binds` must not show (SAND-001). */
  masked?: string[]
  /** The workspace and what is mounted beside it, over everything else. */
  workspace: string[]
  /** In addition to PATH, HOME, LANG, TERM and TMPDIR. */
  variables: Record<string, string>
  /** Where it starts; absent: in the workspace. */
  startsIn?: string
}

export function viewArguments(view: ConfinedView): string[] {
  const { bubblewrap, network, temporaryBytes, outlives = false, binds } = view
  return [
    ...rootArguments({ network, temporaryBytes, outlives }),
    ...procArguments(bubblewrap.proc, { leaf: view.sealsProc }),
    ...(view.nests ? [] : leafArguments(bubblewrap)),
    ...bindArguments(binds),
    ...maskArguments(view.masked ?? [], binds),
    ...view.workspace,
    ...environmentArguments({ variables: view.variables }),
    ...sealArguments(),
    ...['--chdir', view.startsIn ?? workspaceInside],
  ]
}
