// Tools of a response as functions of a chat completion, and the way back: what the client declared, behind each name
// that the model is given (vendor document: Responses API reference, tools).
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { describeIssue } from '../../contract/schema/validation.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { LeftOutFields } from '../messages/crossing.ts'
import { explainVendorProblems } from './problems.ts'

/** How a call is given back: as which item. The client runs all of them. */
export type CallKind = 'function' | 'custom' | 'local_shell' | 'tool_search'

/** A tool as the client declared it. */
export type DeclaredTool = { kind: CallKind; name: string; namespace?: string }

export const ResponsesTool: z.ZodType<JsonObject & { type: string }> = z.looseObject({ type: z.string() })

const FunctionTool = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
})
const Custom = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  format: z.looseObject({ syntax: z.string().optional(), definition: z.string().optional() }).nullish(),
})
const Namespace = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  tools: z.array(ResponsesTool),
})

/** Tools of the service that do what a tool of the vendor does, by its type. */
const servedBy: [RegExp, string][] = [
  [/^web_search/, 'web_search'],
  [/^code_interpreter/, 'code_exec'],
]

/** Types of tools are the client's own text, and this goes into a header. */
function nameType(type: string): string {
  return type.replaceAll(/[^\w.-]/g, '_').slice(0, 40)
}

export function leaveOut(field: string, type?: string): LeftOutFields {
  return { what: type === undefined ? field : `${field} (${nameType(type)})` }
}

/** Vendors allow these in a name of a function, and so many. */
const plainName = /^[\w-]{1,64}$/
const prefixLength = 55

function shorten(name: string, key: string): string {
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 8)
  return `${name.slice(0, prefixLength)}_${digest}`
}

function keyOf(name: string, namespace: string | undefined): string {
  return `${namespace ?? ''}\n${name}`
}

/** `functions` is the vendor's word for tools without a namespace. */
function flatten(name: string, namespace: string | undefined): string {
  const isPlain = namespace === undefined || namespace === 'functions'
  const whole = isPlain ? name : `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}`
  const safe = whole.replaceAll(/[^\w-]/g, '_')
  return plainName.test(safe) ? safe : shorten(safe, keyOf(name, namespace))
}

/** The names that the model is given: unique, and the same in every request with the same tools. */
export class ToolNames {
  readonly #byName = new Map<string, DeclaredTool>()
  readonly #byKey = new Map<string, string>()

  add(tool: DeclaredTool): string {
    const key = keyOf(tool.name, tool.namespace)
    const wanted = flatten(tool.name, tool.namespace)
    const name = this.#byName.has(wanted) ? shorten(wanted, key) : wanted
    this.#byName.set(name, tool)
    this.#byKey.set(key, name)
    return name
  }

  has(name: string, namespace?: string): boolean {
    return this.#byKey.has(keyOf(name, namespace))
  }

  /** What the client declared; a call of any other name is one of a function. */
  declared(name: string): DeclaredTool {
    return this.#byName.get(name) ?? { kind: 'function', name }
  }

  /** The model's name of a tool, which need not be declared any more. */
  nameOf(name: string, namespace?: string): string {
    return this.#byKey.get(keyOf(name, namespace)) ?? flatten(name, namespace)
  }
}

function describeFunction(name: string, fields: JsonObject): JsonObject {
  return { type: 'function', function: { name, ...fields } }
}

/** Free text as the one argument of a function. */
const textParameters = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
}

function describeCustom({ description, format }: z.infer<typeof Custom>): string {
  const grammar = format?.definition
  const rule = grammar === undefined ? '' : `The input matches this grammar (${format?.syntax ?? 'lark'}):\n${grammar}`
  return [description, rule].filter(Boolean).join('\n\n')
}

const shellParameters = {
  type: 'object',
  properties: {
    command: { type: 'array', items: { type: 'string' }, description: 'The program and its arguments.' },
    timeout_ms: { type: 'integer' },
    working_directory: { type: 'string' },
    env: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['command'],
}

/** What a request declares, in the words of a chat completion. */
export type ReadTools = { tools: JsonObject[]; names: ToolNames; leftOut: LeftOutFields[] }

type Draft = ReadTools & { isAllowed(tool: DeclaredTool): boolean }

/** A repeated declaration says nothing new. */
function declare(draft: Draft, tool: DeclaredTool, fields: JsonObject): void {
  if (draft.names.has(tool.name, tool.namespace)) return
  const name = draft.names.add(tool)
  if (draft.isAllowed(tool)) draft.tools.push(describeFunction(name, fields))
}

/** Problems are thrown by zod, with their path in the tool. */
function addFunction(draft: Draft, tool: JsonObject, namespace?: { name: string }): void {
  const { name, description, parameters, strict } = FunctionTool.parse(tool, { error: describeIssue })
  declare(
    draft,
    { kind: 'function', name, ...(namespace && { namespace: namespace.name }) },
    {
      ...(description && { description }),
      ...(parameters && { parameters }),
      ...(typeof strict === 'boolean' && { strict }),
    },
  )
}

function addCustom(draft: Draft, tool: JsonObject, namespace?: { name: string }): void {
  const custom = Custom.parse(tool, { error: describeIssue })
  const declared: DeclaredTool = { kind: 'custom', name: custom.name, ...(namespace && { namespace: namespace.name }) }
  declare(draft, declared, { description: describeCustom(custom), parameters: textParameters })
}

/** The words about all tools of a namespace are told with the first of them. */
function describeFirst(tool: JsonObject, { name, description }: z.infer<typeof Namespace>): JsonObject {
  if (!description) return tool
  const own = typeof tool.description === 'string' ? tool.description : ''
  return { ...tool, description: [own, `(About all tools of ${name}: ${description})`].filter(Boolean).join('\n\n') }
}

/** InvalidRequest names the place of what is wrong. */
function checkAt(field: string, add: () => void): void {
  try {
    add()
  } catch (error) {
    throw error instanceof z.ZodError ? explainVendorProblems(error, field) : error
  }
}

function addNamespace(draft: Draft, tool: JsonObject, field: string): void {
  const namespace = Namespace.parse(tool, { error: describeIssue })
  for (const [at, inner] of namespace.tools.entries()) {
    const described = at === 0 ? describeFirst(inner, namespace) : inner
    const path = `${field}.tools.${at}`
    if (inner.type === 'function') checkAt(path, () => addFunction(draft, described, namespace))
    else if (inner.type === 'custom') checkAt(path, () => addCustom(draft, described, namespace))
    else draft.leftOut.push(leaveOut(path, inner.type))
  }
}

/** A search that the vendor makes cannot be had; one that the client makes is a call like any other. */
function addSearch(draft: Draft, { execution, description, parameters }: JsonObject, field: string): void {
  if (execution !== 'client' || !isJsonObject(parameters)) draft.leftOut.push(leaveOut(field, 'tool_search'))
  else
    declare(
      draft,
      { kind: 'tool_search', name: 'tool_search' },
      { ...(description ? { description } : {}), parameters },
    )
}

function addHosted(draft: Draft, type: string, field: string): void {
  const tool = servedBy.find(([types]) => types.test(type))?.[1]
  draft.leftOut.push({ ...leaveOut(field, type), ...(tool !== undefined && { servedBy: tool }) })
}

function addShell(draft: Draft): void {
  const description = 'Runs a program on the machine of the user and returns its output.'
  declare(draft, { kind: 'local_shell', name: 'local_shell' }, { description, parameters: shellParameters })
}

type ToolReader = (draft: Draft, tool: JsonObject, field: string) => void

/** By type; the vendor runs tools of any other. */
const readers = new Map<string, ToolReader>([
  ['function', (draft, tool) => addFunction(draft, tool)],
  ['custom', (draft, tool) => addCustom(draft, tool)],
  ['namespace', addNamespace],
  ['tool_search', addSearch],
  ['local_shell', addShell],
])

function addTool(draft: Draft, tool: JsonObject & { type: string }, field: string): void {
  const read = readers.get(tool.type)
  if (read === undefined) addHosted(draft, tool.type, field)
  else read(draft, tool, field)
}

export type ToolList = { field: string; tools: (JsonObject & { type: string })[] }

/** Which tools the model may call, by the client's names; undefined: all. */
export type Allowed = { name?: unknown; namespace?: unknown; type?: unknown }[] | undefined

/** The tools of one list after the other. InvalidRequest names what is wrong with one. */
export function readTools(lists: ToolList[], allowed: Allowed): ReadTools {
  const isAllowed = ({ kind, name, namespace }: DeclaredTool) =>
    allowed === undefined ||
    allowed.some(
      (one) =>
        (one.name === name || (one.name === undefined && one.type === kind)) &&
        (one.namespace ?? undefined) === namespace,
    ) ||
    allowed.some((one) => one.type === 'namespace' && one.name === namespace)
  const draft: Draft = { tools: [], names: new ToolNames(), leftOut: [], isAllowed }
  for (const { field, tools } of lists) {
    for (const [at, tool] of tools.entries()) {
      const path = `${field}.${at}`
      checkAt(path, () => addTool(draft, tool, path))
    }
  }
  return draft
}
