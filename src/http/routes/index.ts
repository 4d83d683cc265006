// The public routes, noun by noun.
import type { Bind } from '../bind.ts'
import { bindAuth, bindOverview, bindTokens, bindUsage } from './account.ts'
import { bindApprovals } from './approvals.ts'
import { bindAudit } from './audit.ts'
import { bindBudgets } from './budgets.ts'
import { bindChat } from './chat.ts'
import { bindConfigMaps } from './configmaps.ts'
import type { RouteContext } from './context.ts'
import { bindDeliveries } from './deliveries.ts'
import { bindMemories } from './memories.ts'
import { bindMemoryProposals } from './memory-proposals.ts'
import { bindMonitors } from './monitors.ts'
import { bindDescription, bindHealth, bindMetrics, bindSchemas, bindSettings } from './operations.ts'
import { bindAgents, bindProviders } from './resources.ts'
import { bindSecrets } from './secrets.ts'
import { bindSecurity } from './security.ts'
import { bindSessions } from './sessions.ts'
import { bindSkills } from './skills.ts'
import { bindTaskRecords } from './task-records.ts'
import { bindTaskStreams } from './task-streams.ts'
import { bindTasks } from './tasks.ts'
import { bindTools } from './tools.ts'
import { bindTranscripts } from './transcripts.ts'
import { bindWatch } from './watch.ts'
import { bindWorkspaces } from './workspaces.ts'

export function bindPublicRoutes(bind: Bind, context: RouteContext): void {
  bindTasks(bind, context)
  bindTaskRecords(bind, context)
  bindTaskStreams(bind, context)
  bindSessions(bind, context)
  bindTranscripts(bind, context)
  bindApprovals(bind, context)
  bindWorkspaces(bind, context)
  bindDeliveries(bind, context)
  bindMemories(bind, context)
  bindMemoryProposals(bind, context)
  bindMonitors(bind, context)
  bindChat(bind, context)
  bindAgents(bind, context)
  bindSkills(bind, context)
  bindTools(bind, context)
  bindProviders(bind, context)
  bindSecrets(bind, context)
  bindConfigMaps(bind, context)
  bindTokens(bind, context)
  bindAuth(bind)
  bindSecurity(bind, context)
  bindUsage(bind, context)
  bindOverview(bind, context)
  bindBudgets(bind, context)
  bindAudit(bind, context)
  bindWatch(bind, context)
  bindHealth(bind, context)
  bindDescription(bind, context)
  bindMetrics(bind, context)
  bindSchemas(bind, context)
  bindSettings(bind, context)
}
