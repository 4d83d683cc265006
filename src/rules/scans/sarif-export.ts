// Findings as SARIF 2.1.0, the format that code hosts and editors read (OASIS, Static Analysis Results Interchange Format).
import type { Evidence, Finding } from '../../contract/api/scans/findings.ts'
import { type Severity, severities } from '../../contract/kinds/scans/repository-scan.ts'
import { dropUndefined } from '../../lib/json.ts'
import { weaknessFamilyOf } from './finding-matching.ts'

export type SarifSource = {
  scan: string
  repoURL: string
  branch?: string | undefined
  commit?: string | undefined
}

const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

const levels: Record<Severity, 'error' | 'warning' | 'note'> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
}
/** As code hosts grade them: from 9 critical, from 7 high, from 4 medium. */
const grades: Record<Severity, string> = { critical: '9.5', high: '8.0', medium: '5.5', low: '2.5' }
const sourceRoot = '%SRCROOT%'

/** A path as a relative reference (RFC 3986). */
function uriOf(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

function locationOf({ path = '', startLine, endLine, quote, symbol }: Evidence) {
  const region = dropUndefined({ startLine, endLine, snippet: quote === undefined ? undefined : { text: quote } })
  return {
    physicalLocation: dropUndefined({
      artifactLocation: { uri: uriOf(path), uriBaseId: sourceRoot },
      region: startLine === undefined ? undefined : region,
    }),
    ...(symbol !== undefined && { logicalLocations: [{ name: symbol, kind: 'function' }] }),
  }
}

function suppressionsOf({ state, dismissal }: Finding) {
  if (state !== 'dismissed') return undefined
  return [{ kind: 'external', status: 'accepted', justification: dismissal?.reason ?? 'dismissed' }]
}

const files = ({ evidence }: Finding) => evidence.filter(({ path }) => path !== undefined)

function resultOf(finding: Finding) {
  const [first, ...others] = files(finding)
  const hash = finding.fingerprint.replace(/^v\d+:/, '')
  const ruleId = weaknessFamilyOf(finding.category ?? 'security')
  return dropUndefined({
    ruleId,
    kind: 'fail',
    level: levels[finding.severity],
    message: { text: `${finding.title}\n\n${finding.summary}` },
    locations: first === undefined ? [] : [locationOf(first)],
    relatedLocations:
      others.length === 0
        ? undefined
        : others.map((one, at) => ({
            id: at + 1,
            ...locationOf(one),
            message: { text: one.label ?? 'further evidence' },
          })),
    partialFingerprints: { 'svcFinding/v3': hash, primaryLocationLineHash: `${hash.slice(0, 16)}:1` },
    suppressions: suppressionsOf(finding),
    properties: dropUndefined({
      findingId: finding.id,
      severity: finding.severity,
      confidence: finding.confidence,
      validationStatus: finding.validationStatus,
      state: finding.state,
      category: finding.category,
      commit: finding.commitSHA,
      remediation: finding.remediation,
      importedFrom: finding.importedFrom,
    }),
  })
}

/** The gravest of the findings of a rule grades the rule. */
function ruleOf(id: string, severity: Severity) {
  return {
    id,
    shortDescription: { text: id.replaceAll('-', ' ') },
    defaultConfiguration: { level: levels[severity] },
    properties: { tags: ['security'], 'security-severity': grades[severity] },
  }
}

/** A branch and a commit, where they are known, and no `ref:` of a tag. */
function provenanceOf({ commit: revisionId, branch, repoURL: repositoryUri }: SarifSource) {
  if (!URL.canParse(repositoryUri)) return undefined
  return [dropUndefined({ repositoryUri, revisionId, branch: branch?.startsWith('ref:') ? undefined : branch })]
}

/** The category by which a code host tells analyses of one tool apart. */
export const nameAnalysis = (scan: string) => `svc/${scan}/`

function describeRun(source: SarifSource) {
  return dropUndefined({
    automationDetails: { id: nameAnalysis(source.scan) },
    columnKind: 'utf16CodeUnits',
    originalUriBaseIds: { [sourceRoot]: { description: { text: 'Root of the repository.' } } },
    versionControlProvenance: provenanceOf(source),
  })
}

const isGraver = (one: Severity, other: Severity | undefined) =>
  other === undefined || severities.indexOf(one) < severities.indexOf(other)

/**
 * One log, piece by piece, so that any number of findings takes little memory; the rules come after the results. Of findings
 * that are fixed nothing is said: they are not there any more.
 */
export async function* writeSarif(
  findings: AsyncIterable<Finding> | Iterable<Finding>,
  source: SarifSource,
): AsyncGenerator<string> {
  const gravest = new Map<string, Severity>()
  const run = JSON.stringify(describeRun(source)).slice(0, -1)
  let comma = ''
  yield `{"$schema":${JSON.stringify(schema)},"version":"2.1.0","runs":[${run},"results":[`
  for await (const finding of findings) {
    if (finding.state === 'fixed') continue
    const result = resultOf(finding)
    if (isGraver(finding.severity, gravest.get(result.ruleId))) gravest.set(result.ruleId, finding.severity)
    yield `${comma}${JSON.stringify(result)}`
    comma = ','
  }
  const rules = [...gravest].map(([id, severity]) => ruleOf(id, severity))
  yield `],"tool":${JSON.stringify({ driver: { name: 'svc', rules } })}}]}`
}
