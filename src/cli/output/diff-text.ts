// A diff in colours.
import type { CliContext } from '../context.ts'
import { makeHarmlessKeepingColors } from './printable.ts'
import type { Colors } from './terminal.ts'

export function paintLine(line: string, colors: Colors): string {
  if (line.startsWith('+')) return colors.green(line)
  if (line.startsWith('-')) return colors.red(line)
  return line.startsWith('@@ ') ? colors.dim(line) : line
}

const heads = /^(diff --git |index |new file |deleted file |old mode |new mode |similarity |rename |--- |\+\+\+ )/

/** A unified diff as git makes it. */
function paintDiff(diff: string, colors: Colors): string {
  return diff
    .split('\n')
    .map((line) => (heads.test(line) ? colors.bold(line) : paintLine(line, colors)))
    .join('\n')
}

/** In colour, and page by page. */
export async function showDiffOnTerminal(diff: string, { terminal, page, standardOutput }: CliContext): Promise<void> {
  const text = makeHarmlessKeepingColors(paintDiff(diff, terminal.colors))
  if (!(await page(text))) standardOutput.write(text)
}
