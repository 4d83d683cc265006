// Every suite of a record store, for each database that keeps records.

import { describeAgentVersions } from './agent-versions.contract.ts'
import { describeAlerts } from './alerts.contract.ts'
import { describeApprovals } from './approvals.contract.ts'
import { describeArtifacts } from './artifacts.contract.ts'
import { describeAttemptEnds } from './attempt-ends.contract.ts'
import { describeAudit } from './audit.contract.ts'
import { describeBudgets } from './budgets.contract.ts'
import { describeCheckpoints } from './checkpoints.contract.ts'
import { describeConfigMaps } from './configmaps.contract.ts'
import { describeDeliveries } from './deliveries.contract.ts'
import { describeEvents } from './events.contract.ts'
import { describeFindings } from './findings.contract.ts'
import { describeIdempotency } from './idempotency.contract.ts'
import { describeLogs } from './logs.contract.ts'
import { describeMemories } from './memories.contract.ts'
import { describeMemoryProposals } from './memory-proposals.contract.ts'
import { describeMemoryVectors } from './memory-vectors.contract.ts'
import { describeMessages } from './messages.contract.ts'
import { describeMonitors } from './monitors.contract.ts'
import { describeNetworkRecords } from './network-records.contract.ts'
import { describeParkings } from './parkings.contract.ts'
import { describePlans } from './plans.contract.ts'
import { describeProviderHealth } from './provider-health.contract.ts'
import { describeRateLimits } from './rate-limits.contract.ts'
import { describeRecordChanges } from './record-changes.contract.ts'
import { describeResults } from './results.contract.ts'
import { describeRetention } from './retention.contract.ts'
import { describeScanImports } from './scan-imports.contract.ts'
import { describeScans } from './scans.contract.ts'
import { describeSecretStorage } from './secret-storage.contract.ts'
import { describeSessions } from './sessions.contract.ts'
import { describeSignInLinks } from './sign-in-links.contract.ts'
import { describeSteps } from './steps.contract.ts'
import { describeStoredResponses } from './stored-responses.contract.ts'
import { describeTokens } from './tokens.contract.ts'
import { describeTranscripts } from './transcripts.contract.ts'
import { describeUsage } from './usage.contract.ts'
import { describeWorkspaceRecords } from './workspace-records.contract.ts'

export const recordSuites = [
  describeApprovals,
  describeArtifacts,
  describeAudit,
  describeBudgets,
  describeCheckpoints,
  describeConfigMaps,
  describeDeliveries,
  describeEvents,
  describeFindings,
  describeIdempotency,
  describeStoredResponses,
  describeLogs,
  describeMemories,
  describeMemoryProposals,
  describeMemoryVectors,
  describeMessages,
  describeMonitors,
  describeAttemptEnds,
  describeNetworkRecords,
  describeParkings,
  describePlans,
  describeProviderHealth,
  describeRateLimits,
  describeRecordChanges,
  describeResults,
  describeRetention,
  describeScanImports,
  describeScans,
  describeSecretStorage,
  describeSessions,
  describeSteps,
  describeSignInLinks,
  describeTokens,
  describeTranscripts,
  describeUsage,
  describeAlerts,
  describeAgentVersions,
  describeWorkspaceRecords,
]
