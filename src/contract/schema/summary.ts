// Summaries of objects in lists: names, labels and the fields that tables show.
import { isJsonObject } from '../../lib/json.ts'
import { type Kind, kinds } from '../kinds/index.ts'

const metadataFields = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'labels',
]

/** Fields in addition to the columns of each kind. The type requires every kind, so that none is forgotten. */
const moreFields: Record<Kind, readonly string[]> = {
  Task: [
    ...[
      'spec.ai.providerRef.name',
      'spec.ai.model',
      'spec.priority',
      'spec.sessionRef.name',
      'spec.requestedBy.username',
    ],
    ...['spec.schedule', 'spec.timeZone', 'spec.suspend', 'status.lastScheduleTime', 'status.nextScheduleTime'],
    ...['status.message', 'status.failureReason', 'status.queuedReason', 'status.nextRetryTime'],
    ...['status.startTime', 'status.firstStartTime', 'status.completionTime', 'status.usage', 'status.iteration'],
    'metadata.ownerReferences',
  ],
  Agent: ['spec.tools', 'spec.skills', 'spec.coordination', 'status.lastUsed', 'status.conditions'],
  Provider: [
    ...['spec.baseURL', 'status.message', 'status.lastError', 'status.lastErrorAt', 'status.lastReached'],
    ...['spec.default', 'status.coolingDownUntil'],
  ],
  Tool: [
    ...['spec.description', 'spec.http.url', 'spec.mcp.url', 'status.error', 'status.lastCheck', 'status.conditions'],
  ],
  Skill: [
    ...['spec.displayName', 'spec.description', 'spec.author', 'spec.tags', 'spec.source'],
    ...['status.commit', 'status.readAt', 'status.conditions'],
  ],
  RepositoryScan: [
    ...['spec.schedule', 'spec.timeZone', 'spec.suspend', 'status.branch', 'status.findingCounts', 'status.failedRuns'],
    ...['status.lastScanID', 'status.lastSuccessfulScanAt', 'status.nextScanAt', 'status.message'],
  ],
  RepositoryMonitor: [
    ...['spec.schedule', 'spec.timeZone', 'spec.suspend', 'status.branch', 'status.lastRunID', 'status.nextRunTime'],
    ...['status.lastSuccessfulRunTime', 'status.heldUpUntil', 'status.pendingReviews', 'status.activeRepairs'],
    ...['status.blockedItems', 'status.skippedItems', 'status.mergeReadyItems', 'status.conditions'],
  ],
}

function pathsOf(kind: Kind): string[][] {
  const columns = kinds[kind].columns.map(({ jsonPath }) => jsonPath.slice(1))
  const paths = [...metadataFields.map((name) => `metadata.${name}`), ...columns, ...moreFields[kind]]
  return [...new Set(paths)].map((path) => path.split('.'))
}

const paths = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, pathsOf(kind as Kind)])) as Record<
  Kind,
  string[][]
>

function copyPath(from: unknown, to: Record<string, unknown>, [key = '', ...rest]: string[]): void {
  if (!isJsonObject(from) || !Object.hasOwn(from, key)) return
  if (rest.length === 0) {
    to[key] = from[key]
    return
  }
  const inner = isJsonObject(to[key]) ? to[key] : {}
  copyPath(from[key], inner, rest)
  if (Object.keys(inner).length > 0) to[key] = inner
}

/** The object with only the fields that tables show, each at its usual path. */
export function summarize(kind: Kind, object: unknown): Record<string, unknown> {
  const { apiVersion } = object as { apiVersion: string }
  const summary: Record<string, unknown> = { apiVersion, kind }
  for (const path of paths[kind]) copyPath(object, summary, path)
  return summary
}

/** The same for an object as JSON. */
export function summarizeText(kind: Kind, text: string): string {
  return JSON.stringify(summarize(kind, JSON.parse(text)))
}
