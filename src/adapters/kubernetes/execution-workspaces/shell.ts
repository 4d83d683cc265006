// Runs short scripts in a sandbox, with files that they are given: how they get there is the business of what lies below.
import { WorkspaceError } from '../../../ports/execution-workspaces.ts'

/** A container that runs. */
export type SandboxPlace = {
  namespace: string
  sandbox: string
  pod: string
  container: string
  podIP?: string | undefined
}

export type ShellScript = {
  /** For POSIX sh; it finds the parts as `$in/1`, `$in/2` and so on, and `$state`, a folder for what is to stay. */
  text: string
  parts?: readonly Uint8Array[]
  timeoutMs: number
  /** More on its standard output is a ProtocolError. */
  maxBytes: number
}

export type ShellAnswer = { code: number; stdout: Buffer; stderr: string }

export interface SandboxShell {
  /**
   * WorkspaceLost when there is no such pod, ProviderUnavailable when it or what leads there does not answer in time,
   * ProtocolError when the answer makes no sense.
   */
  run(place: SandboxPlace, script: ShellScript): Promise<ShellAnswer>
}

/**
 * Puts what it is sent (as many bytes as all parts together) into a file and cuts the parts out of it: programs that read
 * a few bytes of a pipe may take more than they write.
 */
const receive = `umask 077
for place in /tmp /var/tmp /dev/shm; do [ -d "$place" ] && [ -w "$place" ] && break; done
state=$place/.svc-workspace
mkdir -p "$state/in" || exit 125
in=$(mktemp -d "$state/in/XXXXXX") || exit 125
trap 'rm -rf "$in"' EXIT
trap 'exit 125' HUP INT TERM
head -c "$1" > "$in/all" || exit 125
shift
at=1 number=0
for size in "$@"; do
  tail -c "+$at" "$in/all" | head -c "$size" > "$in/$number" || exit 125
  at=$((at + size)) number=$((number + 1))
done
rm -f "$in/all"
set --
. "$in/0"`

export type PackedScript = {
  /** For `/bin/sh -c`: the program, its name and its arguments. Nothing of the script is in it. */
  argv: [program: string, ...rest: string[]]
  /** Its standard input. */
  input: Buffer
}

export function packScript({ text, parts = [] }: ShellScript): PackedScript {
  const pieces = [Buffer.from(text), ...parts]
  const sizes = pieces.map((piece) => String(piece.length))
  const input = Buffer.concat(pieces)
  return { argv: [receive, 'sh', String(input.length), ...sizes], input }
}

/** Takes what is written, up to a limit. */
export function createAnswerBuffer(maxBytes: number, onFlood: (error: WorkspaceError) => void) {
  const chunks: Buffer[] = []
  let size = 0
  return {
    take(chunk: Buffer): void {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else onFlood(new WorkspaceError('ProtocolError', `the workspace answers with more than ${maxBytes} bytes`))
    },
    read: () => Buffer.concat(chunks),
  }
}

export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
