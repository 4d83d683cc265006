// The route table: every route of the service, from which the server, the client and OpenAPI are made.

import * as agents from './agents.ts'
import * as approvals from './approvals.ts'
import * as audit from './audit.ts'
import * as auth from './auth.ts'
import * as budgets from './budgets.ts'
import * as chat from './chat.ts'
import * as codeHostTools from './code-host-tools.ts'
import * as codeRuns from './code-runs.ts'
import * as configMaps from './configmaps.ts'
import * as coordination from './coordination.ts'
import * as deliveries from './deliveries.ts'
import * as executionWorkspaces from './execution-workspaces.ts'
import * as health from './health.ts'
import * as internal from './internal.ts'
import * as memories from './memories.ts'
import * as memoryProposals from './memory-proposals.ts'
import * as memoryTools from './memory-tools.ts'
import * as metrics from './metrics.ts'
import * as monitors from './monitors.ts'
import * as overview from './overview.ts'
import * as parking from './parking.ts'
import * as programSessions from './program-sessions.ts'
import * as progress from './progress.ts'
import * as providers from './providers.ts'
import * as proxies from './proxies.ts'
import type { Route } from './route.ts'
import * as schemas from './schemas.ts'
import * as secrets from './secrets.ts'
import * as findings from './security/finding-routes.ts'
import * as security from './security/routes.ts'
import * as sarif from './security/sarif-routes.ts'
import * as sessions from './sessions.ts'
import * as settings from './settings.ts'
import * as skills from './skills.ts'
import * as tasks from './tasks.ts'
import * as tokens from './tokens.ts'
import * as tools from './tools.ts'
import * as transcripts from './transcripts.ts'
import * as usage from './usage.ts'
import * as watch from './watch.ts'
import * as workspaces from './workspaces.ts'

const rooms = [
  tasks,
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
  workspaces,
  watch,
  budgets,
  audit,
  deliveries,
  health,
  schemas,
  settings,
  metrics,
  proxies,
  approvals,
  coordination,
  internal,
  executionWorkspaces,
  parking,
  codeRuns,
  programSessions,
  progress,
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
