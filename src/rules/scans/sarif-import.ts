// Findings of a scanner (SARIF 2.1.0) as candidates: the same checks decide about them as about those of a reviewer. What a
// scanner writes is untrusted.

import type { Severity } from '../../contract/kinds/scans/repository-scan.ts'
import { isInnerPath } from '../../lib/inner-path.ts'
import type { JsonObject } from '../../lib/json.ts'
import {
  findRule,
  type LogRun,
  readMessage,
  readSarifLog,
  sarifList,
  sarifObject,
  sarifText,
  sarifTextOf,
} from './sarif-log.ts'
import { normalizePath } from './tree-paths.ts'

const isAbsolute = (path: string) => /^(\/|[a-z][a-z0-9+.-]*:)/i.test(path)
/** A base may be relative to another one. */
const deepestBase = 8

function decode(uri: string): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}

/** A `file:` address as a path; others as they are, without escapes. */
function plain(uri: string): string {
  return decode(uri)
    .replaceAll('\\', '/')
    .replace(/^file:\/\/(localhost)?(?=\/)/i, '')
    .replace(/^\/(?=[a-z]:\/)/i, '')
}

const folderOf = (path: string) => (path.endsWith('/') ? path : `${path}/`)

class SarifLocations {
  readonly #run: LogRun
  readonly #roots: string[]
  readonly #bases = new Map<string, string>()

  /** `root`: the folder that the scanner ran in, as a person names it. */
  constructor(run: LogRun, root?: string) {
    this.#run = run
    const named = [
      root,
      this.#baseOf('%SRCROOT%'),
      ...run.roots,
      ...Object.keys(run.bases).map((id) => this.#baseOf(id)),
    ]
    const folders = named.flatMap((one) => sarifText(one) ?? []).map((one) => folderOf(plain(one)))
    this.#roots = [...new Set(folders)].filter((folder) => isAbsolute(folder) && folder !== '/')
  }

  #baseOf(id: string): string {
    const known = this.#bases.get(id)
    if (known !== undefined) return known
    const base = this.#resolveBase(id, deepestBase)
    this.#bases.set(id, base)
    return base
  }

  #resolveBase(id: string, depth: number): string {
    const { uri, uriBaseId } = sarifObject(this.#run.bases[id])
    const own = plain(sarifText(uri) ?? '')
    const parent = sarifText(uriBaseId)
    if (isAbsolute(own) || parent === undefined || depth === 0) return own === '' ? '' : folderOf(own)
    return `${this.#resolveBase(parent, depth - 1)}${folderOf(own)}`
  }

  /** Of an artifact location. Absolute, and so refused later, when it is in none of the folders that are known. */
  pathOf(location: unknown): string {
    const artifact = sarifObject(location)
    const indexed =
      typeof artifact.index === 'number' ? sarifObject(this.#run.artifacts[artifact.index]).location : undefined
    const { uri, uriBaseId }: JsonObject = sarifText(artifact.uri) === undefined ? sarifObject(indexed) : artifact
    const own = plain(sarifText(uri) ?? '')
    const path = isAbsolute(own) ? own : `${this.#baseOf(sarifText(uriBaseId) ?? '')}${own}`
    const root = this.#roots.find((one) => path.startsWith(one))
    const inner = root === undefined ? path : path.slice(root.length)
    return isAbsolute(inner) ? inner : (normalizePath(inner) ?? inner)
  }
}

/** A candidate as a reviewer would report it. `related`: further evidence, which counts only where it is true. */
export type ImportedItem = { item: JsonObject & { evidence: JsonObject[] }; related: JsonObject[] }

/** Everything that one scanner says. */
export type ToolReport = {
  name: string
  items: ImportedItem[]
  /** Files that it says it looked at. */
  files: string[]
  /** False: it says that it failed. */
  isComplete: boolean
}

export type SarifReport = { tools: ToolReport[]; skipped: number; commit?: string }

const maxRelatedLocations = 12

/** What a scanner writes instead of the code when it may not show it. */
const noSnippet = /^requires login$/i

function readEvidence(location: unknown, locations: SarifLocations): JsonObject {
  const physical = sarifObject(sarifObject(location).physicalLocation)
  const region = sarifObject(physical.region)
  const snippet = sarifTextOf(region.snippet)
  const { startLine, endLine = startLine } = region
  return {
    path: locations.pathOf(physical.artifactLocation),
    startLine,
    endLine,
    quote: snippet === undefined || noSnippet.test(snippet.trim()) ? undefined : snippet,
  }
}

/** From where to where data flows (3.36), and related locations. */
function readRelated(result: JsonObject, locations: SarifLocations): JsonObject[] {
  const [flow] = sarifList(result.codeFlows)
  const [thread] = sarifList(sarifObject(flow).threadFlows)
  const steps = sarifList(sarifObject(thread).locations).map((step) => sarifObject(step).location)
  return [...steps, ...sarifList(result.relatedLocations)]
    .slice(0, maxRelatedLocations)
    .map((location) => readEvidence(location, locations))
}

const levelSeverity: Record<string, Severity> = { error: 'high', warning: 'medium', note: 'low', none: 'low' }
const grades: [number, Severity][] = [
  [9, 'critical'],
  [7, 'high'],
  [4, 'medium'],
  [0, 'low'],
]

function readSeverity(result: JsonObject, rule: JsonObject): Severity {
  const grade = sarifObject(result.properties)['security-severity'] ?? sarifObject(rule.properties)['security-severity']
  const score = Number(grade ?? Number.NaN)
  const graded = grades.find(([min]) => score >= min)?.[1]
  if (graded !== undefined) return graded
  const level = sarifText(result.level) ?? sarifText(sarifObject(rule.defaultConfiguration).level)
  return levelSeverity[level ?? 'warning'] ?? 'medium'
}

const tagsOf = (rule: JsonObject) => sarifList(sarifObject(rule.properties).tags).flatMap((tag) => sarifText(tag) ?? [])

function readConfidence(result: JsonObject, rule: JsonObject): string {
  const { issue_confidence: confidence } = sarifObject(result.properties)
  const precision = sarifText(sarifObject(rule.properties).precision)
  const tag = tagsOf(rule).find((one) => /^(high|medium|low) confidence$/i.test(one))
  const word = /high|medium|low/i.exec(sarifText(confidence) ?? tag ?? precision ?? '')?.[0]
  return word?.toLowerCase() ?? 'medium'
}

/** Its CWE, else the name of the rule. */
function readCategory(rule: JsonObject, ruleId: string): string {
  const cwe = tagsOf(rule).find((tag) => /\bcwe[-_/ ]?\d+/i.test(tag))
  const name = sarifText(rule.name) ?? ruleId
  return cwe?.replace(/^external\/cwe\//i, '') ?? name.split(/[./]/).at(-1) ?? name
}

function isFailure({ suppressions, kind = 'fail', baselineState }: JsonObject): boolean {
  const isDismissed = sarifList(suppressions).some((one) => (sarifObject(one).status ?? 'accepted') === 'accepted')
  return !isDismissed && kind === 'fail' && baselineState !== 'absent'
}

function readItem(result: JsonObject, run: LogRun, locations: SarifLocations): ImportedItem {
  const rule = findRule(run, result)
  const ruleId = sarifText(result.ruleId) ?? sarifText(rule.id) ?? 'finding'
  const summary = readMessage(result, rule)
  const short = sarifTextOf(rule.shortDescription)
  const title = short === undefined || short.includes(ruleId) ? summary : short
  const help = sarifTextOf(rule.help) ?? sarifTextOf(rule.fullDescription) ?? sarifText(rule.helpUri)
  const item = {
    title: title?.split('\n')[0],
    category: readCategory(rule, ruleId),
    severity: readSeverity(result, rule),
    confidence: readConfidence(result, rule),
    summary,
    remediation: help ?? `See what ${run.tool} says about ${ruleId}.`,
    triage: `${run.tool} ${ruleId}`,
    evidence: sarifList(result.locations)
      .slice(0, 1)
      .map((location) => readEvidence(location, locations)),
  }
  return { item, related: readRelated(result, locations) }
}

/** Empty without a location. */
export function pathOfItem({ item }: ImportedItem): string {
  return sarifText(item.evidence[0]?.path) ?? ''
}

function readRun(run: LogRun, root: string | undefined): ToolReport {
  const locations = new SarifLocations(run, root)
  const items = run.results.filter(isFailure).map((result) => readItem(result, run, locations))
  const named = run.artifacts.map(({ location }) => locations.pathOf(location))
  const files = [...new Set([...named, ...items.map(pathOfItem)])].filter(isInnerPath)
  return { name: run.tool, items, files, isComplete: run.isComplete }
}

/** Of one scanner that has several runs in the file. */
function join(reports: readonly ToolReport[]): ToolReport[] {
  return [...Map.groupBy(reports, ({ name }) => name)].map(([name, own]) => ({
    name,
    items: own.flatMap(({ items }) => items),
    files: [...new Set(own.flatMap(({ files }) => files))],
    isComplete: own.every(({ isComplete }) => isComplete),
  }))
}

/** Every result of every run, but those that the scanner says are none. A fault says what to do. */
export function readSarif(text: string, root?: string): SarifReport | { fault: string } {
  const runs = readSarifLog(text)
  if ('fault' in runs) return runs
  const tools = join(runs.map((run) => readRun(run, root)))
  const all = runs.reduce((sum, { results }) => sum + results.length, 0)
  const accepted = tools.reduce((sum, { items }) => sum + items.length, 0)
  const [commit] = new Set(runs.map((run) => run.commit))
  return { tools, skipped: all - accepted, ...(commit !== undefined && { commit }) }
}
