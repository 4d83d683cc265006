// Asks a person for a yes.
import type { CliContext } from './context.ts'

/** Anything but a yes is a no; so is a place where nobody can be asked. */
export async function agrees({ openPrompt }: Pick<CliContext, 'openPrompt'>, question: string): Promise<boolean> {
  if (openPrompt === undefined) return false
  const prompt = openPrompt()
  const typed = await prompt.ask(`${question} [y/N] `, []).finally(() => prompt.close())
  return typeof typed === 'object' && /^y(es)?$/i.test(typed.line.trim())
}
