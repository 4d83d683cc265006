// The public routes, noun by noun.
import type { Bind } from '../bind.ts'
import type { RouteContext } from '../deps.ts'
import { bindChat } from './chat/chat.ts'
import { bindSessions, bindTranscripts } from './chat/sessions.ts'
import { bindDeliveries } from './codehost/deliveries.ts'
import { bindAudit, bindAuth, bindBudgets, bindOverview, bindTokens, bindUsage } from './identity/account.ts'
import { bindMemories, bindMemoryProposals } from './memory/memories.ts'
import { bindMonitors } from './monitors/monitors.ts'
import { bindAgents, bindProviders } from './resources/resources.ts'
import { bindConfigMaps, bindSecrets } from './resources/secrets.ts'
import { bindWatch } from './resources/watch.ts'
import { bindSecurity } from './scans/security.ts'
import {
  bindAgentPrograms,
  bindDescription,
  bindHealth,
  bindMetrics,
  bindSchemas,
  bindSettings,
} from './service/operations.ts'
import { bindApprovals } from './tasks/approvals.ts'
import { bindTaskRecords } from './tasks/task-records.ts'
import { bindTaskStreams } from './tasks/task-streams.ts'
import { bindTasks } from './tasks/tasks.ts'
import { bindSkills, bindTools } from './tools/tools.ts'
import { bindWorkspaces } from './workspaces/workspaces.ts'

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
  bindAgentPrograms(bind, context)
}
