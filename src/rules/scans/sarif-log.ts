// A SARIF 2.1.0 log as a scanner wrote it, which is untrusted: anything may stand in place of anything. Numbers in comments are
// sections of the standard (OASIS, Static Analysis Results Interchange Format 2.1.0).
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** Results of one file that are read; more are refused: they are to be split. */
export const maxResults = 25_000
/** UTF-16 units of a message. */
const maxMessageLength = 8192
const maxArgumentLength = 512

export const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
export const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined
export const sarifTextOf = (message: unknown) => asText(asObject(message).text)

type Component = { rules: JsonObject[]; byId: Map<unknown, JsonObject> }

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
  /** Folders that the scanner says are the root of the repository, or that it ran in. */
  roots: unknown[]
  commit: string | undefined
}

function readComponent(component: unknown): Component {
  const rules = asList(asObject(component).rules).map(asObject)
  return { rules, byId: new Map(rules.map((rule) => [rule.id, rule])) }
}

/** Scanners report a configuration that they cannot read as a success with an error among its notifications. */
function hasSucceeded({ executionSuccessful, toolExecutionNotifications: notes }: JsonObject): boolean {
  return executionSuccessful !== false && !asList(notes).some((note) => asObject(note).level === 'error')
}

function readRun(run: JsonObject): LogRun {
  const tool = asObject(run.tool)
  const driver = asObject(tool.driver)
  const invocations = asList(run.invocations).map(asObject)
  const provenance = asList(run.versionControlProvenance).map(asObject)
  const commit = provenance.map(({ revisionId }) => asText(revisionId)).find((id) => /^[0-9a-f]{40,64}$/.test(id ?? ''))
  return {
    tool: (asText(driver.name) ?? 'scanner').slice(0, 120),
    components: [driver, ...asList(tool.extensions)].map(readComponent),
    artifacts: asList(run.artifacts).map(asObject),
    bases: asObject(run.originalUriBaseIds),
    results: asList(run.results).map(asObject),
    isComplete: invocations.every(hasSucceeded),
    roots: [
      ...provenance.map(({ mappedTo }) => asObject(mappedTo).uri),
      ...invocations.map(({ workingDirectory }) => asObject(workingDirectory).uri),
    ],
    commit,
  }
}

/** By index, else by id; the reference may name an extension of the tool (3.52). */
export function findRule({ components }: LogRun, result: JsonObject): JsonObject {
  const reference = asObject(result.rule)
  const at = asObject(reference.toolComponent).index
  const component = components[typeof at === 'number' ? at + 1 : 0]
  const index = result.ruleIndex ?? reference.index
  const byIndex = typeof index === 'number' ? component?.rules[index] : undefined
  return byIndex ?? component?.byId.get(result.ruleId ?? reference.id) ?? {}
}

/** `{0}` stands for an argument, and a message may be one of the rule's (3.11). */
export function readMessage(result: JsonObject, rule: JsonObject): string | undefined {
  const message = asObject(result.message)
  const id = asText(message.id)
  const text = asText(message.text) ?? (id === undefined ? undefined : sarifTextOf(asObject(rule.messageStrings)[id]))
  const given = asList(message.arguments)
  return text
    ?.slice(0, maxMessageLength)
    .replace(/\{(\d{1,3})\}/g, (whole, at) => asText(given[Number(at)])?.slice(0, maxArgumentLength) ?? whole)
}

function parse(text: string): JsonObject | undefined {
  const value = parseForeignJson(text.replace(/^\uFEFF/, ''))
  return isJsonObject(value) ? value : undefined
}

function checkLog(log: JsonObject | undefined): string | undefined {
  if (log === undefined) return 'the file is not JSON: give a SARIF file, as scanners write with --sarif'
  if (log.version !== '2.1.0') {
    const found = JSON.stringify(log.version)?.slice(0, 40) ?? 'missing'
    return `the version of the file must be "2.1.0", and is ${found}: give a SARIF 2.1.0 file`
  }
  if (!Array.isArray(log.runs)) return 'the file has no runs: give a SARIF file'
  const results = asList(log.runs).reduce<number>((sum, run) => sum + asList(asObject(run).results).length, 0)
  return results > maxResults ? `the file has ${results} results, more than ${maxResults}: split it` : undefined
}

/** A fault says what to do. */
export function readSarifLog(text: string): LogRun[] | { fault: string } {
  const log = parse(text)
  const fault = checkLog(log)
  return fault === undefined ? asList(log?.runs).map((run) => readRun(asObject(run))) : { fault }
}
