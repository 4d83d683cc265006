// A SARIF 2.1.0 log as a scanner wrote it, which is untrusted: anything may stand in place of anything. Numbers in comments are
// sections of the standard (OASIS, Static Analysis Results Interchange Format 2.1.0).
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** Results of one file that are read; more are refused: they are to be split. */
export const maxResults = 25_000
/** UTF-16 units of a message. */
const maxMessageLength = 8192
const maxArgumentLength = 512

export const sarifObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
export const sarifList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const sarifText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined
export const sarifTextOf = (message: unknown) => sarifText(sarifObject(message).text)

type Component = { rules: JsonObject[]; byId: Map<unknown, JsonObject>; messages: unknown }

/** One run of a scanner. */
export type LogRun = {
  tool: string
  /** The driver, then the extensions (3.18). */
  components: Component[]
  artifacts: JsonObject[]
  bases: JsonObject
  results: JsonObject[]
  /** False: the scanner says that something failed, so that what it does not report may still be there (3.20.14, 3.20.21). */
  isComplete: boolean
  /** Location of the folder that the scanner says is the root of the repository (3.23.7). */
  root: unknown
  /** Location of the folder that it ran in (3.20.19). */
  workingFolder: unknown
  commit: string | undefined
}

function readComponent(component: unknown): Component {
  const { rules: listed, globalMessageStrings: messages } = sarifObject(component)
  const rules = sarifList(listed).map(sarifObject)
  return { rules, byId: new Map(rules.map((rule) => [rule.id, rule])), messages }
}

/** Scanners report a configuration that they cannot read as a success with an error among its notifications. */
function hasSucceeded({ executionSuccessful, toolExecutionNotifications: notes }: JsonObject): boolean {
  return executionSuccessful !== false && !sarifList(notes).some((note) => sarifObject(note).level === 'error')
}

function readRun(run: JsonObject): LogRun {
  const tool = sarifObject(run.tool)
  const driver = sarifObject(tool.driver)
  const invocations = sarifList(run.invocations).map(sarifObject)
  const provenance = sarifList(run.versionControlProvenance).map(sarifObject)
  const commit = provenance
    .map(({ revisionId }) => sarifText(revisionId))
    .find((id) => /^[0-9a-f]{40,64}$/.test(id ?? ''))
  return {
    tool: (sarifText(driver.name) ?? 'scanner').slice(0, 120),
    components: [driver, ...sarifList(tool.extensions)].map(readComponent),
    artifacts: sarifList(run.artifacts).map(sarifObject),
    bases: sarifObject(run.originalUriBaseIds),
    results: sarifList(run.results).map(sarifObject),
    isComplete: invocations.every(hasSucceeded),
    root: provenance.find(({ mappedTo }) => mappedTo !== undefined)?.mappedTo,
    workingFolder: invocations.find(({ workingDirectory }) => workingDirectory !== undefined)?.workingDirectory,
    commit,
  }
}

/** An id may go on where that of its rule ends: `CA1000/1` is of `CA1000` (3.27.5). */
function findById({ byId }: Component, id: string | undefined): JsonObject | undefined {
  for (let part = id ?? ''; part !== ''; part = part.slice(0, Math.max(0, part.lastIndexOf('/')))) {
    const rule = byId.get(part)
    if (rule !== undefined) return rule
  }
  return undefined
}

/** By id, else by index; the reference may name an extension of the tool (3.52). */
export function findRule({ components }: LogRun, result: JsonObject): JsonObject {
  const reference = sarifObject(result.rule)
  const at = sarifObject(reference.toolComponent).index
  const component = components[typeof at === 'number' ? at + 1 : 0]
  if (component === undefined) return {}
  const index = result.ruleIndex ?? reference.index
  const byIndex = typeof index === 'number' ? component.rules[index] : undefined
  return findById(component, sarifText(result.ruleId) ?? sarifText(reference.id)) ?? byIndex ?? {}
}

/** `{0}` stands for an argument, and a message may be one of the rule's, or of the tool's (3.11). */
export function readMessage(result: JsonObject, rule: JsonObject, { components }: LogRun): string | undefined {
  const message = sarifObject(result.message)
  const id = sarifText(message.id) ?? ''
  const named = [rule.messageStrings, ...components.map(({ messages }) => messages)].map((all) => sarifObject(all)[id])
  const [text] = [message, ...named].flatMap((one) => sarifTextOf(one) ?? sarifText(sarifObject(one).markdown) ?? [])
  const args = sarifList(message.arguments)
  return text
    ?.slice(0, maxMessageLength)
    .replace(/\{(\d{1,3})\}/g, (whole, at) => sarifText(args[Number(at)])?.slice(0, maxArgumentLength) ?? whole)
}

function parse(text: string): JsonObject | undefined {
  const value = parseForeignJson(text.replace(/^\uFEFF/, ''))
  return isJsonObject(value) ? value : undefined
}

function checkLog(log: JsonObject | undefined): string | undefined {
  if (log === undefined) return 'the file is not JSON: give a SARIF file, as scanners write with --sarif'
  const isBlank = log.version === undefined || log.version === ''
  const version = isBlank && String(log.$schema).includes('2.1.0') ? '2.1.0' : log.version
  if (version !== '2.1.0') {
    const found = isBlank ? 'missing' : JSON.stringify(version).slice(0, 40)
    return `the version of the file must be "2.1.0", and is ${found}: give a SARIF 2.1.0 file`
  }
  if (!Array.isArray(log.runs)) return 'the file has no runs: give a SARIF file'
  const results = sarifList(log.runs).reduce<number>((sum, run) => sum + sarifList(sarifObject(run).results).length, 0)
  return results > maxResults ? `the file has ${results} results, more than ${maxResults}: split it` : undefined
}

/** A fault says what to do. */
export function readSarifLog(text: string): LogRun[] | { fault: string } {
  const log = parse(text)
  const fault = checkLog(log)
  return fault === undefined ? sarifList(log?.runs).map((run) => readRun(sarifObject(run))) : { fault }
}
