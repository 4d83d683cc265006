// create and update of one kind, from one description of what can be said about it.
import type { Command } from 'commander'
import type { Client } from '../../../client/client.ts'
import type { CliContext, GlobalOptions } from '../../context.ts'
import { namespaceQuery, readGlobalOptions } from '../../global-options.ts'
import { changeObject } from '../../objects/change-object.ts'
import type { KindEntry } from '../../objects/kinds.ts'
import { requireAllNamed } from '../../objects/references.ts'
import {
  addChangingOptions,
  addMakingOptions,
  fillSpec,
  type OptionValues,
  requireSome,
  type Spec,
  type SpecOption,
} from '../../objects/spec-options.ts'

export type SpecCall = {
  name: string
  client: Client
  flags: OptionValues
  options: GlobalOptions
  context: CliContext
}

export type AskCall = Omit<SpecCall, 'name'>
export type NamedSpec = Pick<SpecCall, 'name' | 'flags'>

/** The spec with what is stored beside it; `undo` takes that away again. */
export type Prepared = { spec: Spec; undo?: () => Promise<void> }

export type SpecCommands = {
  options: readonly SpecOption[]
  /** What `create` says of itself. */
  description: string
  /** What can be done with a new one. */
  hint?: (name: string, spec: Spec) => string
  /** Looks after a new one; resolves to what is to be done with it. */
  finish?: (call: SpecCall, spec: Spec) => Promise<string>
  /** Asks a person for what is needed where `create` has no name. */
  ask?: (call: AskCall) => Promise<NamedSpec>
  /** Options that are not fields of the spec, and what they do. */
  extra?: {
    options: readonly { flags: string; description: string }[]
    make(spec: Spec, call: SpecCall): Promise<Prepared>
    change(spec: Spec, call: SpecCall): Promise<Spec>
  }
}

type Parts = { entry: KindEntry; kind: SpecCommands; context: CliContext }

export function addSpecCommands(group: Command, parts: Parts): void {
  const { entry, kind, context } = parts
  const [word] = entry.words
  const extra = kind.extra?.options ?? []
  const making = group.command(kind.ask === undefined ? 'create <name>' : 'create [name]').description(kind.description)
  const create = addMakingOptions(making, kind.options)
  const update = addChangingOptions(
    group.command('update <name>').description(`change fields of one ${word}; the others stay`),
    kind.options,
  )
  for (const command of [create, update]) for (const { flags, description } of extra) command.option(flags, description)
  const callOf = async (flags: OptionValues, command: Command): Promise<AskCall> => {
    const options = readGlobalOptions(command)
    return { client: await context.connect(options), flags, options, context }
  }
  create.action(async (name: string | undefined, flags: OptionValues, command: Command) => {
    const call = await callOf(flags, command)
    const named = name === undefined ? await kind.ask?.(call) : { name }
    if (named !== undefined) await makeOne(parts, { ...call, ...named })
  })
  update.action(async (name: string, flags: OptionValues, command: Command) => {
    requireSome(
      flags,
      [...kind.options, ...extra].map(({ flags }) => flags),
      word,
    )
    await changeOne(parts, { name, ...(await callOf(flags, command)) })
  })
}

async function makeOne({ entry, kind, context }: Parts, call: SpecCall): Promise<void> {
  const { name, client, flags, options } = call
  await requireAllNamed(kind.options, flags, call)
  const filled = await fillSpec({}, kind.options, { flags, context })
  const { spec, undo } = (await kind.extra?.make(filled, call)) ?? { spec: filled }
  try {
    await client.call(entry.create, { body: { name, ...namespaceQuery(options), spec } })
  } catch (error) {
    await undo?.()
    throw error
  }
  const hint = kind.hint?.(name, spec)
  context.terminal.note(`${entry.words[0]} ${name} created${hint === undefined ? '' : `; ${hint}`}`)
  if (kind.finish !== undefined) context.terminal.note(await kind.finish(call, spec))
}

async function changeOne({ entry, kind, context }: Parts, call: SpecCall): Promise<void> {
  const { name, client, flags, options } = call
  const ref = { name, query: namespaceQuery(options) }
  await requireAllNamed(kind.options, flags, call)
  const differences = await changeObject(client, entry, ref, async (before) => {
    const spec = await fillSpec(before, kind.options, { flags, context })
    return (await kind.extra?.change(spec, call)) ?? spec
  })
  printChanges(`${entry.words[0]} ${name}`, differences, context)
}

/** What was changed, a line each. */
export function printChanges(what: string, differences: readonly string[], { terminal }: CliContext): void {
  terminal.note(differences.length === 0 ? `${what} is unchanged` : `${what} was changed`)
  for (const line of differences) terminal.note(`  ${line}`)
}
