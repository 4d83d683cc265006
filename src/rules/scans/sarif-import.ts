// Findings of a scanner (SARIF 2.1.0) as candidates: the same checks decide about them as about those of a reviewer. What a
// scanner writes is untrusted.
import { parseForeignJson } from '../../contract/foreign-json.ts'
import { isJsonObject, type JsonObject } from '../../contract/json.ts'
import type { Severity } from '../../contract/resources/repository-scan.ts'
import { normalizePath } from './tree-paths.ts'

/** An item as a reviewer would report it, with the scanner that it is from. */
export type ImportedItem = { tool: string; item: JsonObject }
export type SarifAnswer = { tools: string[]; items: ImportedItem[]; skipped: number } | { fault: string }

/** Results of one file that are read; more are refused: they are to be split. */
export const mostResults = 25_000

const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const asText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined
const textOf = (message: unknown) => asText(asObject(message).text)

type Run = { tool: string; rules: JsonObject[]; extensions: JsonObject[]; bases: JsonObject }

function readRun(run: JsonObject): Run {
  const tool = asObject(run.tool)
  const driver = asObject(tool.driver)
  return {
    tool: (asText(driver.name) ?? 'scanner').slice(0, 120),
    rules: asList(driver.rules).map(asObject),
    extensions: asList(tool.extensions).map(asObject),
    bases: asObject(run.originalUriBaseIds),
  }
}

/** By index, else by id (3.52: a reference to a rule may also name an extension of the tool). */
function findRule({ rules, extensions }: Run, result: JsonObject): JsonObject {
  const reference = asObject(result.rule)
  const component = asObject(reference.toolComponent).index
  const among = typeof component === 'number' ? asList(extensions[component]?.rules).map(asObject) : rules
  const index = result.ruleIndex ?? reference.index
  const id = result.ruleId ?? reference.id
  const byIndex = typeof index === 'number' ? among[index] : undefined
  return byIndex ?? among.find((rule) => rule.id === id) ?? {}
}

/** `{0}` stands for an argument, and a message may be one of the rule's (3.11). */
function readMessage(result: JsonObject, rule: JsonObject): string | undefined {
  const message = asObject(result.message)
  const id = asText(message.id)
  const text = asText(message.text) ?? (id === undefined ? undefined : textOf(asObject(rule.messageStrings)[id]))
  const given = asList(message.arguments)
  return text?.replace(/\{(\d{1,3})\}/g, (whole, at) => asText(given[Number(at)]) ?? whole)
}

function decode(uri: string): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}

/** Relative to the root of the repository; as it is where that cannot be told. */
function readPath(location: JsonObject, { bases }: Run): string {
  const artifact = asObject(asObject(location.physicalLocation).artifactLocation)
  const uri = asText(artifact.uri) ?? ''
  const root = asText(asObject(bases[asText(artifact.uriBaseId) ?? '%SRCROOT%']).uri)
  const inner = root !== undefined && uri.startsWith(root) ? uri.slice(root.length) : uri
  const path = decode(inner).replaceAll('\\', '/')
  return /^(\/|[a-z]+:)/i.test(path) ? path : (normalizePath(path) ?? path)
}

/** What a scanner writes instead of the code when it may not show it. */
const noSnippet = /^requires login$/i

function readEvidence(location: JsonObject, run: Run): JsonObject {
  const physical = asObject(location.physicalLocation)
  const region = asObject(physical.region)
  const snippet = textOf(region.snippet)
  const { startLine, endLine = startLine } = region
  return {
    path: readPath(location, run),
    startLine,
    endLine,
    quote: snippet === undefined || noSnippet.test(snippet.trim()) ? undefined : snippet,
  }
}

const levelSeverity: Record<string, Severity> = { error: 'high', warning: 'medium', note: 'low', none: 'low' }
const grades: [number, Severity][] = [
  [9, 'critical'],
  [7, 'high'],
  [4, 'medium'],
  [0, 'low'],
]

function readSeverity(result: JsonObject, rule: JsonObject): Severity {
  const grade = asObject(result.properties)['security-severity'] ?? asObject(rule.properties)['security-severity']
  const score = Number(grade ?? Number.NaN)
  const graded = grades.find(([least]) => score >= least)?.[1]
  if (graded !== undefined) return graded
  const level = asText(result.level) ?? asText(asObject(rule.defaultConfiguration).level)
  return levelSeverity[level ?? 'warning'] ?? 'medium'
}

const tagsOf = (rule: JsonObject) => asList(asObject(rule.properties).tags).flatMap((tag) => asText(tag) ?? [])

function readConfidence(rule: JsonObject): string {
  const precision = asText(asObject(rule.properties).precision) ?? ''
  const tag = tagsOf(rule).find((one) => /^(high|medium|low) confidence$/i.test(one))
  const word = /high|medium|low/i.exec(precision || (tag ?? ''))?.[0]
  return word?.toLowerCase() ?? 'medium'
}

/** Its CWE, else the rule. */
function readCategory(rule: JsonObject, ruleId: string): string {
  const cwe = tagsOf(rule).find((tag) => /\bcwe[-_/ ]?\d+/i.test(tag))
  return cwe?.replace(/^external\/cwe\//i, '') ?? ruleId.split(/[./]/).at(-1) ?? ruleId
}

/** Undefined: the scanner itself says that it is none. */
function readItem(result: JsonObject, run: Run): JsonObject | undefined {
  const isDismissed = asList(result.suppressions).some((one) => (asObject(one).status ?? 'accepted') === 'accepted')
  const isFailure = (result.kind ?? 'fail') === 'fail'
  if (isDismissed || !isFailure || result.baselineState === 'absent') return undefined
  const rule = findRule(run, result)
  const ruleId = asText(result.ruleId) ?? asText(rule.id) ?? 'finding'
  const summary = readMessage(result, rule)
  const short = textOf(rule.shortDescription)
  const title = short === undefined || short.includes(ruleId) ? summary : short
  const help = textOf(rule.help) ?? textOf(rule.fullDescription) ?? asText(rule.helpUri)
  return {
    title: title?.split('\n')[0],
    category: readCategory(rule, ruleId),
    severity: readSeverity(result, rule),
    confidence: readConfidence(rule),
    summary,
    remediation: help ?? `See what ${run.tool} says about ${ruleId}.`,
    triage: `${run.tool} ${ruleId}`,
    evidence: asList(result.locations)
      .slice(0, 1)
      .map((location) => readEvidence(asObject(location), run)),
  }
}

function parse(text: string): JsonObject | undefined {
  try {
    const value = parseForeignJson(text.replace(/^\uFEFF/, ''))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function checkLog(log: JsonObject | undefined): string | undefined {
  if (log === undefined) return 'the file is not JSON: give a SARIF file, as scanners write with --sarif'
  if (log.version !== '2.1.0')
    return `the version of the file must be 2.1.0, not ${JSON.stringify(log.version)?.slice(0, 40)}`
  if (!Array.isArray(log.runs)) return 'the file has no runs: give a SARIF file'
  const results = asList(log.runs).reduce<number>((sum, run) => sum + asList(asObject(run).results).length, 0)
  return results > mostResults ? `the file has ${results} results, more than ${mostResults}: split it` : undefined
}

/** Every result of every run, but those that the scanner says are none. */
export function readSarif(text: string): SarifAnswer {
  const log = parse(text)
  const fault = checkLog(log)
  if (log === undefined || fault !== undefined) return { fault: fault ?? '' }
  const tools = new Set<string>()
  const items: ImportedItem[] = []
  let skipped = 0
  for (const one of asList(log.runs).map(asObject)) {
    const run = readRun(one)
    tools.add(run.tool)
    for (const result of asList(one.results).map(asObject)) {
      const item = readItem(result, run)
      if (item === undefined) skipped += 1
      else items.push({ tool: run.tool, item })
    }
  }
  return { tools: [...tools], items, skipped }
}

/** Paths that the items name. */
export function listItemPaths(items: readonly ImportedItem[]): string[] {
  const paths = items.flatMap(({ item }) => asList(item.evidence).map((one) => asText(asObject(one).path) ?? ''))
  return [...new Set(paths)].filter((path) => path !== '' && normalizePath(path) === path)
}
