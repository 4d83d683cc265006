// explain: what a field of a kind means, from the schema; no service is asked.
import type { Command } from 'commander'
import { printHints } from '../../contract/field.ts'
import { describeKind, type FieldDoc, type KindDoc } from '../../contract/field-tree.ts'
import { type Kind, kindNames, kinds } from '../../contract/resources/index.ts'
import { SvcError } from '../../errors.ts'
import { printAnswer } from '../answers.ts'
import type { CliContext } from '../context.ts'
import { readGlobalOptions } from '../global-options.ts'
import { findNearest } from '../nearest.ts'
import { typed } from '../typed.ts'

export function addExplainCommand(program: Command, context: CliContext): void {
  program
    .command('explain [path]')
    .description('what a kind or a field means, with type, default and example')
    .option('--recursive', 'all fields below it, by name and type')
    .addHelpText('after', `\nExamples:\n  ${typed('explain task')}\n  ${typed('explain task.spec.retryPolicy')}`)
    .action((path: string | undefined, given: { recursive?: boolean }, command: Command) =>
      explain(path, given, { command, context }),
    )
}

type Invocation = { command: Command; context: CliContext }

async function explain(path: string | undefined, given: { recursive?: boolean }, invocation: Invocation) {
  const { command, context } = invocation
  const options = readGlobalOptions(command)
  if (path === undefined) {
    const list = kindNames.map((kind) => ({ kind, description: kinds[kind].description }))
    await printAnswer(context, options, list, () =>
      [...list.map(({ kind, description }) => `${kind}\n${indent(description, 4)}`)].join('\n'),
    )
    return
  }
  const [word = '', ...steps] = path.split('.').map((step) => step.replace(/\[\]$/, ''))
  const kind = describeKind(findKind(word))
  const field = findField(kind, steps)
  await printAnswer(context, options, field ?? kind, () => formatDoc(kind, { steps, field }, given.recursive === true))
}

/** InvalidRequest with the nearest word where there is one. */
function findKind(word: string): Kind {
  const known = kindNames.flatMap((kind) => {
    const { plural, singular, shortNames } = kinds[kind]
    return [kind.toLowerCase(), plural, singular, ...shortNames].map((name) => ({ name, kind }))
  })
  const found = known.find(({ name }) => name === word.toLowerCase())
  if (found !== undefined) return found.kind
  const nearest = findNearest(word, kindNames)
  const hint = nearest === undefined ? `there are ${kindNames.join(', ')}` : `did you mean ${nearest.toLowerCase()}?`
  throw new SvcError('InvalidRequest', `there is no kind \`${word}\`; ${hint}`)
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
