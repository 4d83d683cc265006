// Runs short scripts in a sandbox, with files that they are given: how they get there is the business of what lies below.
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'

/** A container that runs. */
export type SandboxAddress = {
  namespace: string
  sandbox: string
  pod: string
  container: string
  podIP?: string | undefined
}

export type ShellScript = {
  /** For POSIX sh; to run it twice does what it does once. It finds the parts as `$in/1`, `$in/2` and so on, and `$state`, a folder for what is to stay. */
  text: string
  parts?: readonly Uint8Array[]
  timeoutMs: number
  /** More on its standard output is a ProtocolError. */
  maxBytes: number
  /** Nothing that was in the container before may speak for it: it is run by a shell of its own. */
  isAlone?: boolean
}

export type ShellAnswer = { code: number; stdout: Buffer; stderr: string }

export interface SandboxShell {
  /**
   * WorkspaceLost when there is no such pod, ProviderUnavailable when it or what leads there does not answer in time,
   * ProtocolError when the answer makes no sense.
   */
  run(address: SandboxAddress, script: ShellScript): Promise<ShellAnswer>
}

/**
 * Files are for the user of the container alone. `receive` puts what it is sent ($1: how many bytes all parts have) into a
 * file of the folder `$in` and cuts the parts out of it: programs that read a few bytes of a pipe may take more than they write.
 */
const functions = `umask 077
for place in /tmp /var/tmp /dev/shm; do [ -d "$place" ] && [ -w "$place" ] && break; done
state=$place/.svc-workspace
mkdir -p "$state/in" || exit 125
own=$(mktemp -d "$state/in/XXXXXX") || exit 125
trap 'rm -rf "$own"' EXIT
trap 'exit 125' HUP INT TERM
receive() {
  whole=$1
  shift
  [ $# -gt 1 ] || { head -c "$whole" > "$in/0" || exit 125; return 0; }
  head -c "$whole" > "$in/all" || exit 125
  at=1 number=0
  for size in "$@"; do
    : > "$in/$number"
    [ "$size" = 0 ] || tail -c "+$at" "$in/all" | head -c "$size" > "$in/$number" || exit 125
    at=$((at + size)) number=$((number + 1))
  done
}
`

const runOne = `${functions}in=$own
receive "$@"
set --
. "$in/0"`

/** Before each script a line: how many bytes its parts have together, and each. Answers with its exit code, two sizes and the outputs. */
const runMany = `${functions}turn=0
while read -r sizes; do
  turn=$((turn + 1))
  in=$own/$turn
  mkdir "$in" || exit 125
  receive $sizes
  sh -c 'in=$1 state=$2; set --; . "$in/0"' sh "$in" "$state" < /dev/null > "$in/out" 2> "$in/err"
  code=$? out=0 err=0
  [ ! -s "$in/out" ] || out=$(($(wc -c < "$in/out")))
  [ ! -s "$in/err" ] || err=$(($(wc -c < "$in/err")))
  echo "answer $code $out $err"
  cat "$in/out" "$in/err"
  rm -rf "$in"
done`

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
  return { argv: [runOne, 'sh', String(input.length), ...sizes], input }
}

/** For `/bin/sh -c`: takes one script after the other from its standard input. */
export const sessionProgram = runMany

/** A script as the session's program takes it. */
export function packTurn(script: ShellScript): Buffer {
  const { argv, input } = packScript(script)
  return Buffer.concat([Buffer.from(`${argv.slice(2).join(' ')}\n`), input])
}

/** Takes what is written, up to a limit. */
export function createAnswerBuffer(maxBytes: number, onFlood: (error: WorkspaceError) => void) {
  const chunks: Buffer[] = []
  let size = 0
  return {
    take(chunk: Buffer): void {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else
        onFlood(
          new WorkspaceError('ProtocolError', `unexpected answer from the workspace of more than ${maxBytes} bytes`),
        )
    },
    read: () => Buffer.concat(chunks),
  }
}
