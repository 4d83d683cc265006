// A diff in colours.
import type { CliCall, CliContext } from '../context.ts'
import { printAnswer } from './answers.ts'
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

/** On a terminal in colour, and page by page. */
export async function printDiff(
  { context, options }: CliCall,
  value: { diff: string; [field: string]: unknown },
  nothing: string,
): Promise<void> {
  const { diff } = value
  if (options.output === 'table' && diff === '') return context.terminal.note(nothing)
  if (options.output === 'table' && context.terminal.width !== undefined) return showOnTerminal(diff, context)
  await printAnswer(context, options, value, () => diff.replace(/\n$/, ''))
}

async function showOnTerminal(diff: string, { terminal, page, standardOutput }: CliContext): Promise<void> {
  const text = makeHarmlessKeepingColors(paintDiff(diff, terminal.colors))
  if (!(await page(text))) standardOutput.write(text)
}
