// All record stores over one database; bodies and logs are in a folder, or wherever the caller keeps them.
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Ids } from '../lib/clock.ts'
import type { Records } from '../ports/index.ts'
import type { RecordOwners } from '../ports/resources/retention.ts'
import type { Blobs } from './blobs/blobs.ts'
import { createDiskBlobs } from './blobs/disk-blobs.ts'
import { createAlerts } from './budgets/alerts.ts'
import { createBudgets } from './budgets/budgets.ts'
import { createUsage } from './budgets/usage.ts'
import { createSessions } from './chat/sessions.ts'
import { createStoredResponses } from './chat/stored-responses.ts'
import { createTranscripts } from './chat/transcript-search.ts'
import { createDeliveries } from './codehost/deliveries.ts'
import { createMessages } from './coordination/messages.ts'
import type { Database } from './database/database.ts'
import { listSql, sql } from './database/statement.ts'
import { createAudit } from './identity/audit.ts'
import { createMemories } from './memory/memories.ts'
import { createMemoryProposals } from './memory/memory-proposals.ts'
import { createMemoryVectors } from './memory/memory-vectors.ts'
import { createMonitorRecords } from './monitors/monitors.ts'
import { createProviderHealth } from './providers/provider-health.ts'
import { createRateLimits } from './providers/rate-limits.ts'
import { createAgentVersions } from './resources/agent-versions.ts'
import { createIdempotencyKeys } from './resources/idempotency.ts'
import { createRecordChanges, publishRecords } from './resources/record-changes.ts'
import { createFindings } from './scans/findings.ts'
import { createScanImports } from './scans/scan-imports.ts'
import { createScans } from './scans/scans.ts'
import { createApprovals } from './tasks/approvals.ts'
import { createArtifacts, createInputs } from './tasks/artifacts.ts'
import { createCheckpoints } from './tasks/checkpoints.ts'
import { createAttemptEnds } from './tasks/ends.ts'
import { createEvents } from './tasks/events.ts'
import { createLogs, type LogStore } from './tasks/logs.ts'
import { createNetworkRecords } from './tasks/network-records.ts'
import { createParkings } from './tasks/parkings.ts'
import { createPlans } from './tasks/plans.ts'
import { createResults } from './tasks/results.ts'
import { createSteps } from './tasks/steps.ts'
import { createRecordOwners } from './tasks/task-uids.ts'
import { createWorkspaceRecords } from './workspaces/workspace-records.ts'

export type RecordParts = { database: Database; blobs: Blobs; logs: LogStore; clock: Clock }

export type RecordsOptions = {
  database: Database
  /** Folder of bodies (`blobs/`) and logs (`logs/`); created when missing. */
  blobDir: string
  clock: Clock
  ids: Ids
  /** Opens files for writing; tests give one that fails. */
  openFile?: (path: string) => Promise<FileHandle>
}

export type RecordStores = Required<Records> & {
  logs: LogStore
  owners: RecordOwners
  /**
   * Removes bodies that a crash left without a row; returns how many. With a folder: only from the process that serves
   * it.
   */
  sweepOrphans(): Promise<number>
  /** Makes logs durable and closes their files. Whoever opened the database closes it. */
  close(): Promise<void>
}

async function findReferenced(database: Database, blobIds: string[]): Promise<Set<string>> {
  const ids = listSql(blobIds)
  const rows = await database.read.all(sql<{ blob_id: string }>`
    select blob_id from results where blob_id in (${ids})
    union select blob_id from artifacts where blob_id in (${ids})
    union select blob_id from inputs where blob_id in (${ids})
    union select blob_id from checkpoints where blob_id in (${ids})`)
  return new Set(rows.map((row) => row.blob_id))
}

/** The record stores over a database, a store of bodies and a store of logs. */
export function composeRecords({ database, blobs, logs, clock }: RecordParts): RecordStores {
  const changes = createRecordChanges({ database, clock })
  const stores = {
    results: createResults({ database, blobs, clock }),
    artifacts: createArtifacts({ database, blobs, clock }),
    inputs: createInputs({ database, blobs, clock }),
    logs,
    sessions: createSessions({ database, clock }),
    transcripts: createTranscripts({ database, clock }),
    plans: createPlans({ database, clock }),
    memories: createMemories({ database, clock }),
    memoryVectors: createMemoryVectors({ database }),
    memoryProposals: createMemoryProposals({ database, clock }),
    messages: createMessages({ database, clock }),
    monitors: createMonitorRecords({ database, clock }),
    usage: createUsage({ database, clock }),
    events: createEvents({ database, clock }),
    idempotency: createIdempotencyKeys({ database }),
    checkpoints: createCheckpoints({ database, blobs }),
    parkings: createParkings({ database }),
    steps: createSteps({ database }),
    network: createNetworkRecords({ database }),
    ends: createAttemptEnds({ database, blobs, clock }),
    approvals: createApprovals({ database, clock }),
    rateLimits: createRateLimits({ database, clock }),
    providerHealth: createProviderHealth({ database }),
    audit: createAudit({ database }),
    budgets: createBudgets({ database }),
    scans: createScans({ database, clock }),
    findings: createFindings({ database, clock }),
    workspaces: createWorkspaceRecords({ database, clock }),
    scanImports: createScanImports({ database, clock }),
    deliveries: createDeliveries({ database, clock }),
    alerts: createAlerts({ database, clock }),
    storedResponses: createStoredResponses({ database, clock }),
    agentVersions: createAgentVersions({ database, clock }),
  }
  const records = { ...publishRecords(stores, changes.note), changes }
  return {
    ...records,
    owners: createRecordOwners({ database, records }),
    sweepOrphans: () => blobs.sweepOrphans((blobIds) => findReferenced(database, blobIds)),
    close: () => {
      changes.close()
      return records.logs.close()
    },
  }
}

/** The record stores with bodies and logs in a folder. */
export function createRecords({ database, blobDir, clock, ids, openFile }: RecordsOptions): RecordStores {
  const fault = openFile === undefined ? {} : { openFile }
  const blobs = createDiskBlobs({ folder: join(blobDir, 'blobs'), ids, ...fault })
  const logs = createLogs({ folder: join(blobDir, 'logs'), clock, ...fault })
  return composeRecords({ database, blobs, logs, clock })
}
