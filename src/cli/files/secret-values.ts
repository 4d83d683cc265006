// Values of secrets from the environment, files and standard input: never from the command line, which others can read.
import type { Command } from 'commander'
import { SvcError } from '../../errors.ts'
import type { CliContext } from '../context.ts'
import { gather } from '../global-options.ts'

export type ValueOptions = { fromEnv?: string[]; fromFile?: string[] }

export function addValueOptions(command: Command): Command {
  return command
    .option(
      '--from-env <key=VARIABLE>',
      'take the value of a key from an environment variable; may be repeated',
      gather,
    )
    .option('--from-file <key=path>', 'the same from a file, `-` for standard input; may be repeated', gather)
    .addHelpText('after', '\nA line break at the end of a file is not part of the value.')
}

export async function collectValues(given: ValueOptions, context: CliContext): Promise<Record<string, string>> {
  const values: Record<string, string> = {}
  for (const [key, variable] of (given.fromEnv ?? []).map(splitPair)) {
    const value = context.readEnvironment(variable)
    if (!value) throw new SvcError('InvalidRequest', `the environment variable ${variable} is empty or not set`)
    values[key] = value
  }
  for (const [key, path] of (given.fromFile ?? []).map(splitPair)) {
    const [file] = await context.readTexts(path)
    values[key] = (file?.text ?? '').replace(/\r?\n$/, '')
  }
  return values
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=')
  if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)]
  throw new SvcError('InvalidRequest', `\`${pair}\` must be KEY=SOURCE, such as api-key=MY_VARIABLE`)
}
