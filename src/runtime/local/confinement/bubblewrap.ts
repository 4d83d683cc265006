// Finds out once what bubblewrap can do on this machine, by running it, and makes its arguments. Later mounts cover
// earlier ones, so the order matters.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { workspaceInside } from '../../attempts/process-limits.ts'
import type { ProcessGuard } from './process-guard.ts'
import {
  type BindMount,
  bindArguments,
  environmentArguments,
  maskArguments,
  type ProcMount,
  procArguments,
  rootArguments,
  type SandboxNetwork,
  sealArguments,
} from './root-folder.ts'
import { scopeSockets } from './socket-scope.ts'

export type Bubblewrap = {
  binary: string
  version: string
  /** How /proc is provided: `own` where the kernel allows mounting one, `bound` inside another sandbox. */
  proc: ProcMount
  /** Whether a sandbox can forbid further user namespaces inside it (bubblewrap 0.8, not when nested). */
  locksUserNamespaces: boolean
  /** Absent inside a sandbox, which ends as a whole. */
  guard?: ProcessGuard | undefined
  /** Whether it works in a scope of sockets: not where it is installed setuid, and needs that. */
  isScoped?: boolean
}

export type BubblewrapProbe =
  | { available: true; bubblewrap: Bubblewrap }
  | { available: false; reason: string; suggestion: string }

export type BubblewrapProbeOptions = {
  platform?: NodeJS.Platform
  guard?: ProcessGuard
}

export const installBubblewrap =
  'install bubblewrap: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), apk add bubblewrap (Alpine)'

/** Folders to look in, as in PATH. */
const searchPath = '/usr/bin:/usr/local/bin:/bin:/run/current-system/sw/bin'

type Outcome = { ok: boolean; text: string }

function tryCommand([file = '', ...args]: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(file, args, { timeout: 10_000, env: {} }, (error, stdout, stderr) => {
      resolve({ ok: error === null, text: (error === null ? stdout : stderr || error.message).trim() })
    })
  })
}

function findBinary(): string | undefined {
  return searchPath
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find((file) => existsSync(file))
}

/** Tries the strictest variant first and keeps the first that runs a program. */
async function chooseVariant(found: Pick<Bubblewrap, 'binary' | 'version' | 'guard'>): Promise<BubblewrapProbe> {
  const views: Pick<Bubblewrap, 'proc' | 'locksUserNamespaces'>[] = [
    { proc: 'own', locksUserNamespaces: true },
    { proc: 'own', locksUserNamespaces: false },
    { proc: 'bound', locksUserNamespaces: false },
  ]
  const variants = [true, false].flatMap((isScoped) => views.map((view) => ({ ...view, isScoped })))
  let reason = ''
  for (const variant of variants) {
    const bubblewrap: Bubblewrap = { ...found, ...variant }
    // It ends by itself, and killed while it sets itself up it would not.
    const args = [
      ...rootArguments({ network: false, outlives: true }),
      ...procArguments(bubblewrap.proc, { leaf: true }),
    ]
    const outcome = await tryCommand(
      startArguments(bubblewrap, [...args, ...leafArguments(bubblewrap), '/bin/sh', '-c', ':']),
    )
    if (outcome.ok) return { available: true, bubblewrap }
    reason = outcome.text
  }
  const suggestion =
    'allow unprivileged user namespaces for bubblewrap (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu its AppArmor profile), or start Docker or Podman'
  return { available: false, reason: `bubblewrap cannot make a sandbox here: ${reason}`, suggestion }
}

/** Bubblewrap itself, with its arguments. */
export function startArguments({ binary, isScoped = true }: Bubblewrap, args: string[]): string[] {
  const command = [binary, ...args]
  return isScoped ? scopeSockets(command) : command
}

/** Options only for a sandbox that starts no further one inside. */
function leafArguments(bubblewrap: Bubblewrap): string[] {
  return bubblewrap.locksUserNamespaces ? ['--disable-userns'] : []
}

/** Runs bubblewrap at most seven times; about 20 ms where the first works. The caller caches the answer. */
export async function probeBubblewrap(options: BubblewrapProbeOptions = {}): Promise<BubblewrapProbe> {
  const platform = options.platform ?? process.platform
  if (platform !== 'linux') {
    const suggestion = 'run svc on Linux (or in WSL), or start Docker or Podman'
    return { available: false, reason: `bubblewrap needs Linux, this is ${platform}`, suggestion }
  }
  const binary = findBinary()
  if (binary === undefined) {
    return { available: false, reason: 'bubblewrap (bwrap) is not installed', suggestion: installBubblewrap }
  }
  const version = await tryCommand([binary, '--version'])
  return chooseVariant({ binary, version: version.text.replace(/^bubblewrap /, ''), guard: options.guard })
}

export type ConfinedView = {
  bubblewrap: Bubblewrap
  network: SandboxNetwork
  /** Size of /tmp and of /dev/shm. */
  temporaryBytes: number
  /** Whether it may create sandboxes itself. */
  nests: boolean
  /** Whether /proc is read-only. */
  sealsProc: boolean
  /** Whether it goes on when whoever started it ends. */
  outlives?: boolean
  binds: BindMount[]
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
