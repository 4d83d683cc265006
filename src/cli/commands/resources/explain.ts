// explain: what a field of a kind means, from the schema; no service is asked.
import type { Command } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import { type ExplainedKind, explainedKinds } from '../../../contract/schema/explained-kinds.ts'
import { printHints } from '../../../contract/schema/field.ts'
import type { FieldDoc, KindDoc } from '../../../contract/schema/field-tree.ts'
import { SvcError } from '../../../errors.ts'
import { findNearest } from '../../../lib/nearest.ts'
import type { CliContext } from '../../context.ts'
import { readGlobalOptions } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'

export function addExplainCommand(program: Command, context: CliContext): void {
  program
    .command('explain [path]')
    .description('what a kind or a field means, with type, default and example')
    .option('--recursive', 'all fields below it, by name and type')
    .addHelpText(
      'after',
      `\nExamples:\n  ${commandHint('explain task')}\n  ${commandHint('explain task.spec.retryPolicy')}`,
    )
    .action((path: string | undefined, flags: { recursive?: boolean }, command: Command) =>
      explain(path, flags, { command, context }),
    )
}

type Invocation = { command: Command; context: CliContext }

async function explain(path: string | undefined, flags: { recursive?: boolean }, invocation: Invocation) {
  const { command, context } = invocation
  const options = readGlobalOptions(command)
  if (path === undefined) {
    const list = explainedKinds.map(({ kind, description }) => ({ kind, description }))
    await printAnswer(context, options, list, () =>
      [...list.map(({ kind, description }) => `${kind}\n${indent(description, 4)}`)].join('\n'),
    )
    return
  }
  const [word = '', ...steps] = path.split('.').map((step) => step.replace(/\[\]$/, ''))
  const kind = findKind(word).describe()
  const field = findField(kind, steps)
  await printAnswer(context, options, field ?? kind, () => formatDoc(kind, { steps, field }, flags.recursive === true))
}

/** InvalidRequest with the nearest word where there is one. */
function findKind(word: string): ExplainedKind {
  const found = explainedKinds.find(({ words }) => words.includes(word.toLowerCase()))
  if (found !== undefined) return found
  const names = explainedKinds.map(({ kind }) => kind)
  const nearest = findNearest(word, names)
  const hint = nearest === undefined ? `there are ${names.join(', ')}` : `did you mean ${nearest.toLowerCase()}?`
  throw new SvcError('InvalidRequest', `there is no kind \`${word}\`; ${hint}`)
}

/** What may follow the last dot, each with what stands before it; none below a field that is not there. */
export function listPaths(begun: string): string[] {
  const at = begun.lastIndexOf('.')
  if (at < 0) return explainedKinds.map(({ kind }) => kind.toLowerCase())
  const [word = '', ...steps] = begun.slice(0, at).split('.')
  let fields = explainedKinds.find(({ words }) => words.includes(word.toLowerCase()))?.describe().fields ?? []
  for (const step of steps) fields = fields.find(({ name }) => name === step)?.fields ?? []
  return fields.map(({ name }) => `${begun.slice(0, at)}.${name}`)
}

function findField(kind: KindDoc, steps: string[]): FieldDoc | undefined {
  let at: { path: string; field?: FieldDoc; fields: readonly FieldDoc[] } = {
    path: kind.kind.toLowerCase(),
    fields: kind.fields,
  }
  for (const step of steps) {
    const field = at.fields.find(({ name }) => name === step)
    if (field === undefined) throw unknownField(step, at)
    at = { path: `${at.path}.${step}`, field, fields: field.fields }
  }
  return at.field
}

function unknownField(step: string, { path, fields }: { path: string; fields: readonly FieldDoc[] }): SvcError {
  const names = fields.map(({ name }) => name)
  const nearest = findNearest(step, names)
  const hint =
    nearest !== undefined
      ? `did you mean ${path}.${nearest}?`
      : names.length > 0
        ? `it has ${names.join(', ')}`
        : 'it has no fields'
  return new SvcError('InvalidRequest', `\`${path}\` has no field \`${step}\`; ${hint}`)
}

function formatDoc(kind: KindDoc, at: { steps: string[]; field: FieldDoc | undefined }, isRecursive: boolean): string {
  const { steps, field } = at
  const head = [`KIND:     ${kind.kind}`, `VERSION:  ${kind.apiVersion}`]
  if (field !== undefined) head.push(`FIELD:    ${steps.join('.')} <${field.type}>`)
  const { fields } = field ?? kind
  const text = field === undefined ? kind.description : describe(field)
  const lines = [...head, '', indent(text, 2)]
  if (fields.length > 0) lines.push('', 'FIELDS:', ...fields.flatMap((each) => formatField(each, isRecursive, 2)))
  return lines.join('\n')
}

function formatField(field: FieldDoc, isRecursive: boolean, depth: number): string[] {
  const line = `${' '.repeat(depth)}${field.name} <${field.type}>${field.required ? ' required' : ''}`
  if (!isRecursive) return [line, indent(describe(field), depth + 4), '']
  return [line, ...field.fields.flatMap((each) => formatField(each, true, depth + 2))]
}

/** The meaning, and on a line of its own what may be written. */
function describe(field: FieldDoc): string {
  const { description, values, range } = field
  const limits = [
    ...(values === undefined ? [] : [`One of ${values.join(', ')}.`]),
    ...(range === undefined ? [] : [`Range: ${range}.`]),
  ]
  const hints = [...limits, ...printHints(field)].join(' ')
  return hints === '' ? description : `${description}\n${hints}`
}

const lineWidth = 100

function indent(text: string, depth: number): string {
  return text
    .split('\n')
    .map((paragraph) => wrap(paragraph, depth))
    .join('\n')
}

function wrap(text: string, depth: number): string {
  const room = lineWidth - depth
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + 1 + word.length > room) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.map((line) => ' '.repeat(depth) + line).join('\n')
}
