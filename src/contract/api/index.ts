// The route table: every route of the service, from which the server, the client and OpenAPI are made.
import * as agents from './agents/agents.ts'
import * as budgets from './budgets/budgets.ts'
import * as usage from './budgets/usage.ts'
import * as chat from './chat/chat.ts'
import * as programSessions from './chat/program-sessions.ts'
import * as sessions from './chat/sessions.ts'
import * as transcripts from './chat/transcripts.ts'
import * as codeHostTools from './codehost/code-host-tools.ts'
import * as deliveries from './codehost/deliveries.ts'
import * as coordination from './coordination/coordination.ts'
import * as audit from './identity/audit.ts'
import * as auth from './identity/auth.ts'
import * as tokens from './identity/tokens.ts'
import * as memories from './memory/memories.ts'
import * as memoryProposals from './memory/memory-proposals.ts'
import * as memoryTools from './memory/memory-tools.ts'
import * as monitors from './monitors/monitors.ts'
import * as providers from './providers/providers.ts'
import * as proxies from './providers/proxies.ts'
import * as configMaps from './resources/configmaps.ts'
import type { Route } from './resources/route.ts'
import * as schemas from './resources/schemas.ts'
import * as secrets from './resources/secrets.ts'
import * as watch from './resources/watch.ts'
import * as findings from './scans/findings.ts'
import * as security from './scans/routes.ts'
import * as sarif from './scans/sarif-routes.ts'
import * as agentPrograms from './service/agent-programs.ts'
import * as health from './service/health.ts'
import * as metrics from './service/metrics.ts'
import * as overview from './service/overview.ts'
import * as runs from './service/runs.ts'
import * as settings from './service/settings.ts'
import * as approvals from './tasks/approvals.ts'
import * as attemptEnd from './tasks/attempt-end.ts'
import * as internal from './tasks/internal.ts'
import * as taskNetwork from './tasks/network.ts'
import * as progress from './tasks/progress.ts'
import * as taskPullRequests from './tasks/pull-requests.ts'
import * as runners from './tasks/runners.ts'
import * as steps from './tasks/steps.ts'
import * as tasks from './tasks/tasks.ts'
import * as trace from './tasks/trace.ts'
import * as skills from './tools/skills.ts'
import * as tools from './tools/tools.ts'
import * as codeRuns from './workspaces/code-runs.ts'
import * as executionWorkspaces from './workspaces/execution-workspaces.ts'
import * as workspaces from './workspaces/workspaces.ts'

const rooms = [
  tasks,
  taskPullRequests,
  trace,
  taskNetwork,
  sessions,
  transcripts,
  memories,
  memoryTools,
  codeHostTools,
  memoryProposals,
  monitors,
  chat,
  agents,
  skills,
  tools,
  providers,
  secrets,
  configMaps,
  tokens,
  auth,
  security,
  findings,
  sarif,
  usage,
  overview,
  runs,
  workspaces,
  watch,
  budgets,
  audit,
  deliveries,
  health,
  schemas,
  settings,
  agentPrograms,
  metrics,
  proxies,
  approvals,
  coordination,
  internal,
  executionWorkspaces,
  codeRuns,
  runners,
  attemptEnd,
  programSessions,
  progress,
  steps,
]

function isRoute(entry: unknown): entry is Route {
  return typeof entry === 'object' && entry !== null && 'method' in entry && 'path' in entry && 'responses' in entry
}

/** The routes of one file, in an order that does not depend on how modules are loaded. */
function listRoutes(room: object): [string, Route][] {
  const entries = Object.entries(room).filter((entry): entry is [string, Route] => isRoute(entry[1]))
  return entries.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Every route by the name of its constant, which is also its operation id. */
export const routesByName: Readonly<Record<string, Route>> = Object.fromEntries(rooms.flatMap(listRoutes))

function pickRoutes(isWanted: (route: Route) => boolean): Readonly<Record<string, Route>> {
  return Object.fromEntries(Object.entries(routesByName).filter(([, route]) => isWanted(route)))
}

const isInternal = ({ path }: Route) => path.startsWith('/internal/')

/** Routes for users; `/openapi.json` describes them. */
export const publicRoutes = pickRoutes((route) => !isInternal(route))

/** Routes for workers; `/openapi-internal.json` describes them. */
export const internalRoutes = pickRoutes(isInternal)

/** Every route. */
export const routes: readonly Route[] = Object.values(routesByName)
