// The schema of the SQLite store, step by step. New steps are added at the end; released ones are never changed.
import type { Migration } from '../../database/migrations.ts'
import { resourcesMigration } from './0001-resources.ts'
import { taskRecordsMigration } from './0002-task-records.ts'
import { sessionsMigration } from './0003-sessions.ts'
import { serviceRecordsMigration } from './0004-service-records.ts'
import { usageCallsMigration } from './0005-usage-calls.ts'
import { auditMigration } from './0006-audit.ts'
import { providerHealthMigration } from './0007-provider-health.ts'
import { tokenRolesMigration } from './0008-token-roles.ts'
import { callersMigration } from './0009-callers.ts'
import { familiesMigration } from './0010-families.ts'
import { configMapsMigration } from './0011-config-maps.ts'
import { coolDownsMigration } from './0012-cool-downs.ts'
import { checkpointChangesMigration } from './0013-checkpoint-changes.ts'
import { usageEstimatesMigration } from './0014-usage-estimates.ts'
import { sessionModelsMigration } from './0015-session-models.ts'
import { inputsMigration } from './0016-inputs.ts'
import { budgetsMigration } from './0017-budgets.ts'
import { unfinishedLinesMigration } from './0018-unfinished-lines.ts'
import { creationOrderMigration } from './0019-creation-order.ts'
import { cacheWritesMigration } from './0020-cache-writes.ts'
import { programSessionsMigration } from './0021-program-sessions.ts'
import { parkingsMigration } from './0022-parkings.ts'
import { transcriptIndexMigration } from './0023-transcript-index.ts'
import { planVersionsMigration } from './0024-plan-versions.ts'
import { memoriesMigration } from './0025-memories.ts'
import { memoryVectorsMigration } from './0026-memory-vectors.ts'
import { scansMigration } from './0027-scans.ts'
import { deliveriesMigration } from './0028-deliveries.ts'
import { monitorsMigration } from './0029-monitors.ts'
import { executionWorkspacesMigration } from './0030-execution-workspaces.ts'
import { scanImportsMigration } from './0031-scan-imports.ts'
import { findingListsMigration } from './0032-finding-lists.ts'
import { overviewMigration } from './0033-overview.ts'
import { signInLinksMigration } from './0034-sign-in-links.ts'
import { sessionTitlesMigration } from './0035-session-titles.ts'

export const migrations: readonly Migration[] = [
  resourcesMigration,
  taskRecordsMigration,
  sessionsMigration,
  serviceRecordsMigration,
  usageCallsMigration,
  auditMigration,
  providerHealthMigration,
  tokenRolesMigration,
  callersMigration,
  familiesMigration,
  configMapsMigration,
  coolDownsMigration,
  checkpointChangesMigration,
  usageEstimatesMigration,
  sessionModelsMigration,
  inputsMigration,
  budgetsMigration,
  unfinishedLinesMigration,
  creationOrderMigration,
  cacheWritesMigration,
  programSessionsMigration,
  parkingsMigration,
  transcriptIndexMigration,
  planVersionsMigration,
  memoriesMigration,
  memoryVectorsMigration,
  scansMigration,
  deliveriesMigration,
  monitorsMigration,
  executionWorkspacesMigration,
  scanImportsMigration,
  findingListsMigration,
  overviewMigration,
  signInLinksMigration,
  sessionTitlesMigration,
]
