// The file system that a confined program sees, as arguments of bubblewrap: assembled from parts, with nothing of the
// host by default, and a /proc that hides the processes of other user namespaces.
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isInside } from '../../../lib/folder-path.ts'
import { baseEnvironment, workspaceInside } from '../../attempts/process-limits.ts'
import { systemTools } from '../../host/tool-shell.ts'
import { gateFolderInside } from '../../network/forwarder.ts'

/** `own`: a fresh /proc of the sandbox's pid namespace. `bound`: the enclosing sandbox's, read-only. */
export type ProcMount = 'own' | 'bound'

/** `mayBeGone`: nothing is shown where it does not exist. */
export type BindMount = { source: string; target: string; writable?: boolean; mayBeGone?: boolean }

/** Folders and files of a program at their own paths; one that was removed is missed by the program, not by its sandbox. */
export function showProgram(folders: readonly string[]): BindMount[] {
  return folders.map((path) => ({ source: path, target: path, mayBeGone: true }))
}

/** The gate of an attempt, where there is one. */
export function bindGate(gate: { socket: string } | undefined): BindMount[] {
  return gate === undefined ? [] : [{ source: dirname(gate.socket), target: gateFolderInside }]
}

// Only public parts: no shadow, no private keys, no host configuration (`/etc/ssl/private` is why ssl is not bound
// whole).
const publicEtc = [
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/alternatives',
  '/etc/localtime',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust',
  '/etc/ca-certificates',
  '/etc/mime.types',
]

/** The one user in there, in place of the machine's. */
export const accountFiles = [
  { path: '/etc/passwd', content: `svc:x:1000:1000::${workspaceInside}:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n` },
  { path: '/etc/group', content: 'svc:x:1000:\nnogroup:x:65534:\n' },
]

/** Files of the root, whose contents come from this file descriptor and the next: placed first, before the root is sealed. */
export function accountArguments(firstFd: number): string[] {
  return accountFiles.flatMap(({ path }, index) => ['--perms', '0444', '--file', String(firstFd + index), path])
}

const networkEtc = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/host.conf', '/etc/services']

// Kernel interfaces outside the pid namespace. They belong to the machine's root, and a service that runs as root maps
// its sandboxes to that very user: without a cover they could write kernel.core_pattern and so run code on the host.
const kernelProc = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'driver', 'tty', 'mtrr', 'pressure']

function bindSystemFolder(folder: string): string[] {
  if (!existsSync(folder)) return []
  const isLink = lstatSync(folder).isSymbolicLink()
  return isLink ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder]
}

/** `gate`: none but loopback, on which a forwarder leads to the gate of the attempt. */
export type SandboxNetwork = boolean | 'gate'

type RootOptions = {
  network: SandboxNetwork
  temporaryBytes?: number
  /** Whether it goes on when whoever started it ends. */
  outlives?: boolean
}

/** New namespaces (network too, unless shared), no capability, read-only system folders, small tmpfs folders. */
export function rootArguments(options: RootOptions): string[] {
  const size = String(options.temporaryBytes ?? 64 * 1024 * 1024)
  const etc = options.network === false ? publicEtc : [...publicEtc, ...networkEtc]
  return [
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts'],
    ...(options.network === true ? [] : ['--unshare-net', '--unshare-cgroup-try']),
    ...(options.outlives ? [] : ['--die-with-parent']),
    ...['--new-session', '--hostname', 'svc'],
    // Not uid 0 inside: since Linux 5.12 a nested sandbox needs CAP_SETFCAP to map it, which nothing in here has.
    ...['--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/usr', '/usr'],
    ...['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/nix/store'].flatMap(bindSystemFolder),
    ...etc.flatMap((file) => ['--ro-bind-try', file, file]),
    ...['--dev', '/dev', '--size', size, '--tmpfs', '/dev/shm', '--perms', '1777', '--size', size, '--tmpfs', '/tmp'],
    '--clearenv',
  ]
}

/** A leaf starts no sandbox inside it, so its whole /proc can be read-only. */
export function procArguments(proc: ProcMount, options: { leaf: boolean }): string[] {
  if (proc === 'bound') return ['--ro-bind', '/proc', '/proc']
  if (options.leaf) return ['--proc', '/proc', '--remount-ro', '/proc']
  const covers = kernelProc.map((name) => `/proc/${name}`).filter((file) => existsSync(file))
  return ['--proc', '/proc', ...covers.flatMap((file) => ['--ro-bind', file, file])]
}

export function bindArguments(binds: BindMount[]): string[] {
  const optionOf = ({ writable, mayBeGone }: BindMount) =>
    `${writable ? '--bind' : '--ro-bind'}${mayBeGone ? '-try' : ''}`
  return binds.flatMap((bind) => [optionOf(bind), bind.source, bind.target])
}

/** Only the workspace, /tmp and /dev/shm are writable: the root and /dev are memory without a limit. */
export function sealArguments(): string[] {
  return ['--remount-ro', '/dev', '--remount-ro', '/']
}

function resolveReal(path: string): string | undefined {
  return existsSync(path) ? realpathSync(path) : undefined
}

/** Mounts empty folders over those of `masked` that a bound folder would show (SAND-001). */
export function maskArguments(masked: string[], binds: BindMount[]): string[] {
  const shown = [{ source: '/usr', target: '/usr' }, ...binds]
  return masked.flatMap((folder) => {
    const real = resolveReal(folder)
    if (real === undefined) return []
    return shown
      .filter((bind) => isInside(bind.source, real))
      .flatMap((bind) => ['--size', '4096', '--tmpfs', bind.target + real.slice(bind.source.length)])
  })
}

export type EnvironmentOptions = { variables?: Record<string, string>; home?: string }

/**
 * The whole environment inside: PATH, HOME, LANG, TERM, TMPDIR and the given variables; nothing of the service's own.
 */
export function environmentArguments(options: EnvironmentOptions = {}): string[] {
  const variables = { ...baseEnvironment(options.home ?? workspaceInside), ...options.variables }
  return Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value])
}

const lookMs = 2
const maxMs = 2000

/** The options of this process's /proc: the last field of its line in proc_pid_mountinfo(5), whose field 5 is the mount point. */
function readProcOptions(): string {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return (
    lines
      .map((line) => line.split(' '))
      .findLast((fields) => fields[4] === '/proc')
      ?.at(-1) ?? ''
  )
}

/** Whether a sandbox that is started now, and shares this /proc, sees only its own processes. */
export function hidesProcesses(): boolean {
  return /\bhidepid=(4|ptraceable)\b/.test(readProcOptions())
}

/** Waits until the sandbox has its own file system: before that, /proc is the machine's. */
async function waitForOwnProc(pid: number): Promise<boolean> {
  const { dev: machines } = await stat('/proc')
  for (const since = performance.now(); performance.now() - since < maxMs; await delay(lookMs)) {
    const device = (await stat(`/proc/${pid}/root/proc`).catch(() => undefined))?.dev
    if (device !== undefined && device !== machines) return true
  }
  return false
}

/** Only root may change how a sandbox's /proc is mounted, and only root's sandboxes cannot mount one inside. */
export const canHideProcesses = process.platform === 'linux' && process.getuid?.() === 0

/**
 * Call it while the sandbox waits to start its program. Does nothing where this is not possible: the kernel is older
 * than Linux 5.8, or the service lacks CAP_SYS_ADMIN.
 */
export async function hideProcesses(pid: number | undefined): Promise<void> {
  try {
    if (pid === undefined || !(await waitForOwnProc(pid))) return
    const options = 'remount,nosuid,nodev,noexec,hidepid=ptraceable'
    const mount = ['mount', '-t', 'proc', '-o', options, 'proc', '/proc']
    await systemTools.run('nsenter', [`--mount=/proc/${pid}/ns/mnt`, ...mount])
  } catch {
    // The known processes are covered instead.
  }
}
