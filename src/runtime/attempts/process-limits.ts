// What every program of an attempt finds inside its sandbox or pod: its environment, and the small shell script that
// sets its limits.

/** Path of Node inside. */
export const nodeInside = '/opt/node/bin/node'

export const workspaceInside = '/workspace'

export function baseEnvironment(home: string): Record<string, string> {
  return {
    PATH: '/opt/node/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: '/tmp',
  }
}

/**
 * Limits of one process, inherited by its children. With rlimits alone, a process tree can use each of them per
 * process.
 */
export type ProcessLimits = {
  cpuSeconds?: number
  /** The largest file it may write; beyond it SIGXFSZ. */
  fileBytes?: number
  openFiles?: number
  /** Address space. Not for Node, which reserves far more than it uses. */
  addressBytes?: number
  /** Processes of the user. No effect when the user is really the machine's root: then a cgroup limits it. */
  processes?: number
}

/**
 * Since Linux 5.14 RLIMIT_NPROC counts per user namespace; before, it would count all processes of the user, whatever
 * started them, and must not be set.
 */
export function countsProcessesPerNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split('.').map(Number)
  return major > 5 || (major === 5 && minor >= 14)
}

/** `source` is the input's path inside, `target` its destination, relative to the working folder. */
export type InputFile = { source: string; target: string }

// Files are put in place from inside, where a symbolic link left by an earlier run cannot lead anywhere else.
// Units are those of POSIX sh (blocks of 512 bytes, KiB); the number of processes is -u in bash and ash, -p in dash.
// Only the soft CPU limit is exact: at the hard one, a second later, the kernel kills without a reason.
const limitScript = `while [ "$1" != -- ]; do
  mkdir -p -- "$(dirname -- "$2")" && cp --remove-destination -- "$1" "$2" || exit 125
  shift 2
done
ulimit -c 0
[ -z "$2" ] || { ulimit -S -t "$2" && ulimit -H -t "$(($2 + 1))"; }
[ -z "$3" ] || ulimit -f "$3"
[ -z "$4" ] || ulimit -n "$4"
[ -z "$5" ] || ulimit -v "$5"
[ -z "$6" ] || ulimit -u "$6" 2>/dev/null || ulimit -p "$6" 2>/dev/null
shift 6
exec "$@"`

function countUnits(value: number | undefined, unit: number): string {
  return value === undefined ? '' : String(Math.max(1, Math.ceil(value / unit)))
}

/** Puts the files into the working folder, then becomes `argv` under the limits. */
export function limitProcess(argv: string[], limits: ProcessLimits, files: InputFile[] = []): string[] {
  const moves = files.flatMap((file) => [file.source, file.target])
  const values = [
    countUnits(limits.cpuSeconds, 1),
    countUnits(limits.fileBytes, 512),
    countUnits(limits.openFiles, 1),
    countUnits(limits.addressBytes, 1024),
    countUnits(limits.processes, 1),
  ]
  return ['/bin/sh', '-c', limitScript, 'sh', ...moves, '--', ...values, ...argv]
}

/** Node reserves far more address space than it uses, so a flag limits its heap instead. */
export function isNode(argv: string[]): boolean {
  return argv[0] === 'node' || argv[0] === nodeInside
}

/** Adds the heap limit to a command that runs Node. */
export function limitHeap(argv: string[], memoryBytes: number): string[] {
  if (!isNode(argv)) return argv
  const megabytes = Math.max(16, Math.floor((memoryBytes * 0.75) / 1024 ** 2))
  return [argv[0] ?? 'node', `--max-old-space-size=${megabytes}`, ...argv.slice(1)]
}
