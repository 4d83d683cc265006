// The file system that a confined program sees, as arguments of bubblewrap: assembled from parts, with nothing of the
// host by default.

import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { baseEnvironment, workspaceInside } from '../../attempts/inside.ts'

/** `own`: a fresh /proc of the sandbox's pid namespace. `bound`: the enclosing sandbox's, read-only. */
export type ProcMount = 'own' | 'bound'

export type Bind = { source: string; target: string; writable?: boolean }

// Only public parts: no shadow, no private keys, no host configuration (`/etc/ssl/private` is why ssl is not bound
// whole).
const publicEtc = [
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/alternatives',
  '/etc/passwd',
  '/etc/group',
  '/etc/localtime',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust',
  '/etc/ca-certificates',
  '/etc/mime.types',
]

const networkEtc = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/host.conf', '/etc/services']

// Kernel interfaces outside the pid namespace. They belong to the machine's root, and a service that runs as root maps
// its sandboxes to that very user: without a cover they could write kernel.core_pattern and so run code on the host.
const kernelProc = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'driver', 'tty', 'mtrr', 'pressure']

function bindSystemFolder(folder: string): string[] {
  if (!existsSync(folder)) return []
  const isLink = lstatSync(folder).isSymbolicLink()
  return isLink ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder]
}

type RootOptions = {
  network: boolean
  temporaryBytes?: number
  /** Whether it goes on when whoever started it ends. */
  outlives?: boolean
}

/** New namespaces (network too, unless shared), no capability, read-only system folders, small tmpfs folders. */
export function rootArguments(options: RootOptions): string[] {
  const size = String(options.temporaryBytes ?? 64 * 1024 * 1024)
  const etc = options.network ? [...publicEtc, ...networkEtc] : publicEtc
  return [
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts'],
    ...(options.network ? [] : ['--unshare-net', '--unshare-cgroup-try']),
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

export function bindArguments(binds: Bind[]): string[] {
  return binds.flatMap((bind) => [bind.writable ? '--bind' : '--ro-bind', bind.source, bind.target])
}

/** Only the workspace, /tmp and /dev/shm are writable: the root and /dev are memory without a limit. */
export function sealArguments(): string[] {
  return ['--remount-ro', '/dev', '--remount-ro', '/']
}

function isBelow(path: string, folder: string): boolean {
  const path2 = relative(folder, path)
  return path2 === '' || !(path2.startsWith('..') || isAbsolute(path2))
}

function resolveReal(path: string): string | undefined {
  return existsSync(path) ? realpathSync(path) : undefined
}

/** Mounts empty folders over those of `masked` that a bound folder would show (SAND-001). */
export function maskArguments(masked: string[], binds: Bind[]): string[] {
  const shown = [{ source: '/usr', target: '/usr' }, ...binds]
  return masked.flatMap((folder) => {
    const real = resolveReal(folder)
    if (real === undefined) return []
    return shown
      .filter((bind) => isBelow(real, bind.source))
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
