// Abstract Unix sockets (X11, D-Bus, multipathd, iscsid) belong to the network, which sandboxes share with the machine, and whoever
// listens there sees the service's user at the other end. Landlock keeps a program, and all that it starts, from those
// that were made outside (landlock(7), from Linux 6.12 on). It has to be called by the program itself, which Node cannot do for
// it: a few lines of Perl do, and then become the program.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'

/** `prefix` stands before the program and its arguments. */
export type SocketScope =
  | { available: true; prefix: string[] }
  | { available: false; reason: string; suggestion: string }

/** prctl(2) in the tables of system calls; those of Landlock have the same numbers everywhere. */
const prctlNumbers: Partial<Record<NodeJS.Architecture, number>> = { x64: 157, arm64: 167 }

const places = ['/usr/bin/perl', '/usr/local/bin/perl', '/bin/perl', '/run/current-system/sw/bin/perl']

// struct landlock_ruleset_attr: no files, no ports, and in `scoped` LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET; 38 is PR_SET_NO_NEW_PRIVS.
// A failure looks like one of the program itself.
const script = `
my ($prctl, @program) = @ARGV;
sub refuse { my ($name) = $program[0] =~ m{([^/]+)$}; print STDERR "$name: cannot be started: $_[0]$!\\n"; exit 1 }
my $attributes = pack 'Q3', 0, 0, 1;
my $ruleset = syscall 444, $attributes, length $attributes, 0;
$ruleset >= 0 or refuse 'landlock_create_ruleset: ';
syscall($prctl, 38, 1, 0, 0, 0) == 0 or refuse 'prctl: ';
syscall(446, $ruleset, 0) == 0 or refuse 'landlock_restrict_self: ';
exec { $program[0] } @program or refuse '';
`

const newerKernel = 'use Linux 6.12 or newer, with Landlock among its security modules (lsm=...)'

function trySocketScope(): SocketScope {
  const prctl = prctlNumbers[process.arch]
  if (process.platform !== 'linux' || prctl === undefined) {
    return {
      available: false,
      reason: `not on ${process.platform}-${process.arch}`,
      suggestion: 'use Linux on x64 or arm64',
    }
  }
  const perl = places.find((file) => existsSync(file))
  if (perl === undefined)
    return { available: false, reason: 'Perl is not installed', suggestion: 'apt-get install perl-base' }
  const prefix = [perl, '-e', script, String(prctl)]
  const tried = spawnSync(perl, [...prefix.slice(1), '/bin/sh', '-c', ':'], {
    env: {},
    encoding: 'utf8',
    timeout: 10_000,
  })
  if (tried.status === 0) return { available: true, prefix }
  const reason = tried.stderr.trim() || (tried.error?.message ?? 'Perl cannot be run')
  return { available: false, reason: reason.replace(/^sh: cannot be started: /, ''), suggestion: newerKernel }
}

let found: SocketScope | undefined

/** Tried once, which takes some 10 ms. A program is then started some 3 ms later. */
export function findSocketScope(): SocketScope {
  found ??= trySocketScope()
  return found
}

/** The program with its arguments, kept from abstract sockets that it or what it starts has not made, where that is possible. */
export function scopeSockets(argv: string[]): string[] {
  const scope = findSocketScope()
  const [file = ''] = argv
  // Whoever starts it says in the usual way that it is gone.
  if (!scope.available || (isAbsolute(file) && !existsSync(file))) return argv
  return [...scope.prefix, ...argv]
}
