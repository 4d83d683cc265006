// Findings of a scanner (SARIF 2.1.0) as candidates, of which only what is true is kept. What a scanner writes is untrusted.
import type { Severity } from '../../contract/kinds/scans/repository-scan.ts'
import { dropUndefined, type JsonObject } from '../../lib/json.ts'
import { advisoryOf } from './finding-matching.ts'
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
import { SarifNames } from './sarif-names.ts'

/** Part of a file as a scanner names it: by lines, characters or bytes; or the whole file. */
export type NamedRegion = {
  /** As `SarifNames` spells it; then, once it is found, a path of the tree. */
  path: string
  startLine?: number
  endLine?: number
  /** From 0. */
  charOffset?: number
  byteOffset?: number
  quote?: string
}

/** One result. */
export type ImportedItem = {
  /** A candidate as a reviewer would report it, without its evidence. */
  item: JsonObject
  ruleID: string
  /** What the scanner itself knows the result by. */
  prints?: string
  /** All the same: the first that is there counts. */
  locations: NamedRegion[]
  /** Further evidence, which counts only where it is true. */
  related: NamedRegion[]
  /** Why none of its locations is a file. */
  fault?: string
}

/** Everything that one scanner says. */
export type ToolReport = {
  name: string
  items: ImportedItem[]
  /** Names of files that it says it looked at. */
  files: string[]
  /** Names of the root of the repository. */
  roots: string[]
  /** False: it says that it failed. */
  isComplete: boolean
}

/** Why a result is none: what the file itself says about it. */
export type ImportSkipReason = 'suppressed' | 'passed' | 'not-applicable' | 'informational' | 'absent'

export type SarifReport = {
  tools: ToolReport[]
  skipped: Partial<Record<ImportSkipReason, number>>
  commit?: string
  /** The folder that the scanner ran in, as a person names it. */
  root?: string
}

const maxRelatedLocations = 12

const maxLocations = 8
const maxFingerprintLength = 2048

/** What a scanner writes instead of the code if it may not show it, or a secret in it. */
const noSnippet = /^requires login$|redacted|\*{3}/i

const readCount = (value: unknown, min: number) =>
  typeof value === 'number' && Number.isInteger(value) && value >= min ? value : undefined

/** Without lines that only point at the line above them. */
function readSnippet(snippet: unknown): string | undefined {
  const text = sarifTextOf(snippet)
  if (text === undefined || noSnippet.test(text.trim())) return undefined
  return sarifText(text.replace(/^[ \t]*\^[ \t^~-]*(\r?\n|$)/gm, ''))
}

function readRegion(location: unknown, names: SarifNames): NamedRegion {
  const physical = sarifObject(sarifObject(location).physicalLocation)
  const region = sarifObject(physical.region)
  return dropUndefined({
    path: names.nameOf(physical.artifactLocation),
    startLine: readCount(region.startLine, 1),
    endLine: readCount(region.endLine, 1),
    charOffset: readCount(region.charOffset, 0),
    byteOffset: readCount(region.byteOffset, 0),
    quote: readSnippet(region.snippet),
  }) as NamedRegion
}

/** Where nothing is located, what was analysed (3.27.13). */
function readLocations({ locations, analysisTarget }: JsonObject, names: SarifNames): NamedRegion[] {
  const read = sarifList(locations)
    .slice(0, maxLocations)
    .map((location) => readRegion(location, names))
    .filter(({ path }) => path !== '')
  const target = names.nameOf(analysisTarget)
  return read.length === 0 && target !== '' ? [{ path: target }] : read
}

/** From where to where data flows (3.36), and related locations. */
function readRelated(result: JsonObject, names: SarifNames): NamedRegion[] {
  const [flow] = sarifList(result.codeFlows)
  const [thread] = sarifList(sarifObject(flow).threadFlows)
  const steps = sarifList(sarifObject(thread).locations).map((step) => sarifObject(step).location)
  return [...steps, ...sarifList(result.relatedLocations)]
    .slice(0, maxRelatedLocations)
    .map((location) => readRegion(location, names))
    .filter(({ path }) => path !== '')
}

/** 3.27.17, else 3.27.16. A constant that stands for one that may not be told is none. */
function readPrints({ partialFingerprints, fingerprints }: JsonObject): string | undefined {
  for (const written of [partialFingerprints, fingerprints].map(sarifObject)) {
    const known = Object.entries(written).filter(
      ([, value]) => sarifText(value) !== undefined && !noSnippet.test(String(value)),
    )
    if (known.length > 0) return JSON.stringify(known.sort()).slice(0, maxFingerprintLength)
  }
  return undefined
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

/** Its CWE, else the name of the rule: the last part of one with parts, and its id where the name is a sentence. */
function readCategory(rule: JsonObject, ruleID: string): string {
  const cwe = tagsOf(rule).find((tag) => /\bcwe[-_/ ]?\d+/i.test(tag))
  if (cwe !== undefined) return cwe.replace(/^external\/cwe\//i, '')
  if (advisoryOf(ruleID) !== undefined) return 'vulnerable-dependency'
  const id = sarifText(rule.id) ?? ruleID
  const name = sarifText(rule.name)?.trim() ?? id
  const word = /\s/.test(name) ? id : name
  const parts = word.split(/[./]/).filter((part) => /[a-z]/i.test(part))
  return parts.at(-1) ?? word
}

const skippedKinds: Record<string, ImportSkipReason> = {
  pass: 'passed',
  notApplicable: 'not-applicable',
  informational: 'informational',
}

function findSkipReason({ suppressions, kind, baselineState }: JsonObject): ImportSkipReason | undefined {
  const isDismissed = sarifList(suppressions).some((one) => (sarifObject(one).status ?? 'accepted') === 'accepted')
  if (isDismissed) return 'suppressed'
  return baselineState === 'absent' ? 'absent' : skippedKinds[String(kind)]
}

function readTexts(result: JsonObject, rule: JsonObject, run: LogRun) {
  const ruleID = sarifText(result.ruleId) ?? sarifText(rule.id) ?? 'finding'
  const short = sarifTextOf(rule.shortDescription)
  const full = sarifTextOf(rule.fullDescription)
  const summary = readMessage(result, rule, run) ?? short ?? full ?? sarifText(rule.name) ?? ruleID
  const title = short === undefined || short.includes(ruleID) ? summary : short
  const remediation = sarifTextOf(rule.help) ?? full ?? sarifText(rule.helpUri)
  return {
    ruleID,
    title: title.trim().split('\n')[0],
    summary,
    remediation: remediation ?? `See what ${run.tool} says about ${ruleID}.`,
  }
}

function readItem(result: JsonObject, run: LogRun, names: SarifNames): ImportedItem {
  const rule = findRule(run, result)
  const { ruleID, ...texts } = readTexts(result, rule, run)
  const prints = readPrints(result)
  const item = {
    ...texts,
    category: readCategory(rule, ruleID),
    severity: readSeverity(result, rule),
    confidence: readConfidence(result, rule),
    triage: `${run.tool} ${ruleID}`,
  }
  const places = { locations: readLocations(result, names), related: readRelated(result, names) }
  return { item, ruleID, ...(prints !== undefined && { prints }), ...places }
}

/** Empty without a location. */
export function pathOfItem({ locations: [first] }: ImportedItem): string {
  return first?.path ?? ''
}

function readRun(run: LogRun): ToolReport {
  const names = new SarifNames(run)
  const items = run.results
    .filter((result) => findSkipReason(result) === undefined)
    .map((result) => readItem(result, run, names))
  const listed = [...run.artifacts.map(({ location }) => names.nameOf(location)), ...items.map(pathOfItem)]
  const known = names.root()
  return {
    name: run.tool,
    items,
    files: [...new Set(listed)].filter((name) => name !== ''),
    roots: known === undefined ? [] : [known],
    isComplete: run.isComplete,
  }
}

/** Of one scanner that has several runs in the file. */
function join(reports: readonly ToolReport[]): ToolReport[] {
  return [...Map.groupBy(reports, ({ name }) => name)].map(([name, own]) => ({
    name,
    items: own.flatMap(({ items }) => items),
    files: [...new Set(own.flatMap(({ files }) => files))],
    roots: [...new Set(own.flatMap(({ roots }) => roots))],
    isComplete: own.every(({ isComplete }) => isComplete),
  }))
}

/** Every result of every run, but those that the scanner says are none. A fault says what to do. */
export function readSarif(text: string, root?: string): SarifReport | { fault: string } {
  const runs = readSarifLog(text)
  if ('fault' in runs) return runs
  const tools = join(runs.map(readRun))
  const reasons = runs.flatMap(({ results }) => results.flatMap((result) => findSkipReason(result) ?? []))
  const skipped = Object.fromEntries(
    [...Map.groupBy(reasons, (reason) => reason)].map(([reason, all]) => [reason, all.length]),
  )
  const [commit] = new Set(runs.map((run) => run.commit))
  return { tools, skipped, ...(commit !== undefined && { commit }), ...(root !== undefined && { root }) }
}
