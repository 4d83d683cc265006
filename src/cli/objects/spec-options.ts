// Options that fill fields of a spec: the same ones where an object is made and where it is changed.
import { type Command, Option } from 'commander'
import { commandHint } from '../../client/command-hint.ts'
import { SvcError } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { CliContext } from '../context.ts'
import { gather } from '../global-options.ts'

export type Spec = Record<string, unknown>

/** What was typed: one text, or several for an option that may be repeated. */
type FlagValue = string | string[]

export type SpecOption = {
  flags: string
  description: string
  /** Where it goes, such as `model.name`. */
  path: string
  /** To make one it must be given. */
  isRequired?: true
  isRepeated?: true
  /** It names an object of this kind, which must be there. */
  names?: 'agent' | 'provider' | 'secret'
  /** The words that are permitted. Absent: any text. */
  choices?: readonly string[]
  /** The value of what was typed, beside the one before. Absent: the text as it is. */
  read?: (value: FlagValue, parts: { before: unknown; context: CliContext }) => unknown
}

/** The one value of an option that is not repeated. */
export function readOne(read: (text: string) => unknown): NonNullable<SpecOption['read']> {
  return (value) => read(String(value))
}

/** Each value of an option that is repeated. */
export function readEach(read: (text: string) => unknown): NonNullable<SpecOption['read']> {
  return (value) => [value].flat().map(read)
}

/** `name` or `name/key`. */
export function readReference(text: string): { name: string; key?: string } {
  const [name = '', key] = text.split('/')
  return key === undefined ? { name } : { name, key }
}

/** The texts of a file, a folder or standard input. */
export async function readFileTexts(path: string, context: CliContext): Promise<string> {
  const files = await context.readTexts(path)
  return files.map(({ text }) => text).join('\n')
}

/** JSON, or YAML, of which it is a part. */
export async function readSchema(path: string, context: CliContext): Promise<unknown> {
  const { parse } = await import('yaml')
  try {
    return parse(await readFileTexts(path, context))
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw new SvcError('InvalidRequest', `${path} is not JSON: ${(error as Error).message}`)
  }
}

/** To make one; `update` takes the same. */
export function addMakingOptions(command: Command, options: readonly SpecOption[]): Command {
  return addOptions(command, options, true)
}

/** To change one: only what is given changes. */
export function addChangingOptions(command: Command, options: readonly SpecOption[]): Command {
  return addOptions(command, options, false).addHelpText(
    'after',
    '\nOnly what is given changes; an empty text takes a field out.',
  )
}

function addOptions(command: Command, options: readonly SpecOption[], isMaking: boolean): Command {
  for (const { flags, description, isRequired, isRepeated, choices } of options) {
    const option = new Option(flags, isRepeated ? `${description}; may be repeated` : description)
    if (isRepeated) option.argParser(gather)
    if (choices) option.choices(choices)
    if (isMaking && isRequired) option.makeOptionMandatory()
    command.addOption(option)
  }
  return command
}

/** The options of a command, as they were typed. */
export type OptionValues = Record<string, unknown>

/** The spec with what the command line says. */
export async function fillSpec(
  spec: Spec,
  options: readonly SpecOption[],
  { flags, context }: { flags: OptionValues; context: CliContext },
): Promise<Spec> {
  let filled = spec
  for (const { flags: syntax, path, read = String } of options) {
    const typedText = flags[new Option(syntax).attributeName()] as FlagValue | undefined
    if (typedText === undefined) continue
    const before = getAt(filled, path)
    filled = setAt(filled, path, typedText === '' ? undefined : await read(typedText, { before, context }))
  }
  return filled
}

/** InvalidRequest where the command line says nothing of these. */
export function requireSome(values: OptionValues, flags: readonly string[], group: string): void {
  if (flags.some((flag) => values[new Option(flag).attributeName()] !== undefined)) return
  const help = commandHint(`${group} update --help`)
  throw new SvcError('InvalidRequest', `say what is to change, such as ${flags[0]}; \`${help}\` tells what can`)
}

function getAt(spec: Spec, path: string): unknown {
  return path.split('.').reduce<unknown>((at, step) => (isJsonObject(at) ? at[step] : undefined), spec)
}

function setAt(spec: Spec, path: string, value: unknown): Spec {
  const [step = '', ...rest] = path.split('.')
  const { [step]: before, ...others } = spec
  if (rest.length > 0) return { ...spec, [step]: setAt(isJsonObject(before) ? before : {}, rest.join('.'), value) }
  return value === undefined ? others : { ...spec, [step]: value }
}
