// A diff in colours.
import type { Colors } from './terminal.ts'

export function paintLine(line: string, colors: Colors): string {
  if (line.startsWith('+')) return colors.green(line)
  if (line.startsWith('-')) return colors.red(line)
  return line.startsWith('@@ ') ? colors.dim(line) : line
}

const heads = /^(diff --git |index |new file |deleted file |old mode |new mode |similarity |rename |--- |\+\+\+ )/

/** A unified diff as git makes it. */
export function paintDiff(diff: string, colors: Colors): string {
  return diff
    .split('\n')
    .map((line) => (heads.test(line) ? colors.bold(line) : paintLine(line, colors)))
    .join('\n')
}
