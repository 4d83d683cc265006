// Questions to a person: a yes, or one of several from a numbered list.
import type { OpenPrompt } from '../../client/machine.ts'
import type { CliContext } from '../context.ts'
import type { Terminal } from './terminal.ts'

type Asking = {
  terminal: Terminal
  openPrompt: OpenPrompt
  /** The text beside each number; default: the names. */
  lines?: readonly string[]
}

/** Index of the chosen name, by number or name; undefined when none was chosen. */
export async function askNumbered(
  names: readonly string[],
  { terminal, openPrompt, lines = names }: Asking,
): Promise<number | undefined> {
  const width = String(lines.length).length
  for (const [index, line] of lines.entries()) terminal.note(`  ${String(index + 1).padStart(width)}  ${line}`)
  const prompt = openPrompt()
  const typed = await prompt.ask('which one? ', []).finally(() => prompt.close())
  const word = typeof typed === 'string' ? '' : typed.line.trim()
  const index = names.includes(word) ? names.indexOf(word) : Number(word) - 1
  return names[index] === undefined ? undefined : index
}

/** Anything but a yes is a no; so is input where nobody can be asked. */
export async function agrees({ openPrompt }: Pick<CliContext, 'openPrompt'>, question: string): Promise<boolean> {
  if (openPrompt === undefined) return false
  const prompt = openPrompt()
  const typed = await prompt.ask(`${question} [y/N] `, []).finally(() => prompt.close())
  return typeof typed === 'object' && /^y(es)?$/i.test(typed.line.trim())
}
