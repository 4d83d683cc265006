// Every page of the dashboard: its address, its entry in the navigation, and its code, which is fetched when it is first opened.
import type { RouteVerb } from '../../src/contract/api/resources/route.ts'
import type { DetailPage, View } from './app/views.ts'
import type { IconName } from './parts/icon.tsx'

/** `word`: its address, its drawing and, with a capital, its title. `lists`: the kind of which there is a list on it, and nothing else. */
function viewOf(group: View['group'], word: IconName, load: View['load'], lists?: RouteVerb['kind']): View {
  const title = `${word.charAt(0).toUpperCase()}${word.slice(1).replace('-', ' ')}`
  return { path: word, title, icon: word, group, load, ...(lists && { needs: { verb: 'list', kind: lists } }) }
}

export const views: View[] = [
  { ...viewOf('Work', 'overview', () => import('./views/overview/overview-page.tsx')), path: '' },
  viewOf('Work', 'tasks', () => import('./views/tasks/task-list-page.tsx')),
  viewOf('Work', 'chat', () => import('./views/chat/chat-page.tsx')),
  viewOf('Work', 'sessions', () => import('./views/sessions/session-list-page.tsx')),
  viewOf('Work', 'memories', () => import('./views/memories/memory-list-page.tsx')),
  viewOf('Work', 'schedules', () => import('./views/schedules/schedules-page.tsx')),
  viewOf('Code', 'monitors', () => import('./views/monitors/monitor-list-page.tsx')),
  viewOf('Code', 'scans', () => import('./views/scans/scan-list-page.tsx')),
  viewOf('Code', 'workspaces', () => import('./views/workspaces/workspace-list-page.tsx')),
  viewOf('Catalogue', 'agents', () => import('./views/catalogue/agent-list-page.tsx')),
  viewOf('Catalogue', 'tools', () => import('./views/catalogue/tool-list-page.tsx')),
  viewOf('Catalogue', 'skills', () => import('./views/catalogue/skill-list-page.tsx')),
  viewOf('Catalogue', 'providers', () => import('./views/catalogue/provider-list-page.tsx')),
  viewOf('Service', 'audit', () => import('./views/audit/audit-page.tsx'), 'Audit'),
  viewOf('Service', 'tokens', () => import('./views/tokens/token-list-page.tsx'), 'Token'),
  viewOf('Service', 'secrets', () => import('./views/secrets/secret-list-page.tsx'), 'Secret'),
  viewOf('Service', 'config-maps', () => import('./views/config-maps/config-map-list-page.tsx'), 'ConfigMap'),
  viewOf('Service', 'usage', () => import('./views/usage/usage-page.tsx')),
  viewOf('Service', 'budgets', () => import('./views/usage/budget-list-page.tsx'), 'Budget'),
  viewOf('Service', 'settings', () => import('./views/settings/settings-page.tsx'), 'Setting'),
]

/** Kinds of objects that forms make. */
const catalogue = ['agents', 'tools', 'skills', 'providers']
const madeByForm = [...catalogue, 'scans', 'monitors']

/** Pages below a view, which no navigation names. */
export const detailPages: DetailPage[] = [
  { path: 'tasks/new', load: () => import('./views/new-task/new-task-page.tsx') },
  { path: 'compare', load: () => import('./views/task/compare/compare-page.tsx') },
  { path: 'tasks/:namespace/:name', load: () => import('./views/task/task-page.tsx') },
  { path: 'proposals', load: () => import('./views/proposals/proposal-queue-page.tsx') },
  { path: 'sessions/:namespace/:name', load: () => import('./views/sessions/session-page.tsx') },
  { path: 'tools/-/:name', load: () => import('./views/catalogue/builtin-tool-page.tsx') },
  ...madeByForm.map((path) => ({ path: `${path}/new`, load: () => import('./views/objects/new-object-page.tsx') })),
  ...catalogue.map((path) => ({
    path: `${path}/:namespace/:name`,
    load: () => import('./views/catalogue/object-page.tsx'),
  })),
  { path: 'budgets/new', load: () => import('./views/usage/budget-page.tsx') },
  { path: 'budgets/:name', load: () => import('./views/usage/budget-page.tsx') },
  { path: 'config-maps/new', load: () => import('./views/config-maps/new-config-map-page.tsx') },
  { path: 'config-maps/:namespace/:name', load: () => import('./views/config-maps/config-map-page.tsx') },
  { path: 'deliveries/:namespace/:id', load: () => import('./views/monitors/delivery-page.tsx') },
  { path: 'deliveries', load: () => import('./views/monitors/delivery-list-page.tsx') },
  { path: 'monitors/:namespace/:name', load: () => import('./views/monitors/monitor-page.tsx') },
  { path: 'scans/:namespace/:name', load: () => import('./views/scans/scan-page.tsx') },
]
