// Every page of the dashboard: its address, its entry in the navigation, and its code, which is fetched when it is first opened.
import type { DetailPage, View } from './app/views.ts'

export const views: View[] = [
  {
    path: '',
    title: 'Overview',
    icon: 'overview',
    group: 'Work',
    load: () => import('./views/overview/overview-page.tsx'),
  },
  {
    path: 'tasks',
    title: 'Tasks',
    icon: 'tasks',
    group: 'Work',
    load: () => import('./views/tasks/task-list-page.tsx'),
  },
  { path: 'chat', title: 'Chat', icon: 'chat', group: 'Work', load: () => import('./views/chat/chat-page.tsx') },
  {
    path: 'sessions',
    title: 'Sessions',
    icon: 'sessions',
    group: 'Work',
    load: () => import('./views/sessions/session-list-page.tsx'),
  },
  {
    path: 'memories',
    title: 'Memories',
    icon: 'memories',
    group: 'Work',
    load: () => import('./views/memories/memory-list-page.tsx'),
  },
  {
    path: 'monitors',
    title: 'Monitors',
    icon: 'monitors',
    group: 'Code',
    load: () => import('./views/monitors/monitor-list-page.tsx'),
  },
  {
    path: 'scans',
    title: 'Scans',
    icon: 'scans',
    group: 'Code',
    load: () => import('./views/scans/scan-list-page.tsx'),
  },
  {
    path: 'workspaces',
    title: 'Workspaces',
    icon: 'workspaces',
    group: 'Code',
    load: () => import('./views/workspaces/workspace-list-page.tsx'),
  },
  {
    path: 'agents',
    title: 'Agents',
    icon: 'agents',
    group: 'Catalogue',
    load: () => import('./views/catalogue/agent-list-page.tsx'),
  },
  {
    path: 'tools',
    title: 'Tools',
    icon: 'tools',
    group: 'Catalogue',
    load: () => import('./views/catalogue/tool-list-page.tsx'),
  },
  {
    path: 'skills',
    title: 'Skills',
    icon: 'skills',
    group: 'Catalogue',
    load: () => import('./views/catalogue/skill-list-page.tsx'),
  },
  {
    path: 'providers',
    title: 'Providers',
    icon: 'providers',
    group: 'Catalogue',
    load: () => import('./views/catalogue/provider-list-page.tsx'),
  },
  {
    path: 'audit',
    needs: { verb: 'list', kind: 'Audit' },
    title: 'Audit',
    icon: 'audit',
    group: 'Service',
    load: () => import('./views/audit/audit-page.tsx'),
  },
  {
    path: 'tokens',
    needs: { verb: 'list', kind: 'Token' },
    title: 'Tokens',
    icon: 'tokens',
    group: 'Service',
    load: () => import('./views/tokens/token-list-page.tsx'),
  },
  {
    path: 'secrets',
    needs: { verb: 'list', kind: 'Secret' },
    title: 'Secrets',
    icon: 'secrets',
    group: 'Service',
    load: () => import('./views/secrets/secret-list-page.tsx'),
  },
  {
    path: 'schedules',
    title: 'Schedules',
    icon: 'schedules',
    group: 'Work',
    load: () => import('./views/schedules/schedules-page.tsx'),
  },
  {
    path: 'usage',
    title: 'Usage',
    icon: 'usage',
    group: 'Service',
    load: () => import('./views/usage/usage-page.tsx'),
  },
  {
    path: 'settings',
    needs: { verb: 'list', kind: 'Setting' },
    title: 'Settings',
    icon: 'settings',
    group: 'Service',
    load: () => import('./views/settings/settings-page.tsx'),
  },
]

/** Kinds of objects that forms make. */
const catalogue = ['agents', 'tools', 'skills', 'providers']
const madeByForm = [...catalogue, 'scans', 'monitors']

/** Pages below a view, which no navigation names. */
export const detailPages: DetailPage[] = [
  { path: 'tasks/new', load: () => import('./views/new-task/new-task-page.tsx') },
  { path: 'tasks/:namespace/:name', load: () => import('./views/task/task-page.tsx') },
  { path: 'proposals', load: () => import('./views/proposals/proposal-queue-page.tsx') },
  { path: 'sessions/:namespace/:name', load: () => import('./views/sessions/session-page.tsx') },
  { path: 'tools/-/:name', load: () => import('./views/catalogue/builtin-tool-page.tsx') },
  ...madeByForm.map((path) => ({ path: `${path}/new`, load: () => import('./views/objects/new-object-page.tsx') })),
  ...catalogue.map((path) => ({
    path: `${path}/:namespace/:name`,
    load: () => import('./views/catalogue/object-page.tsx'),
  })),
  { path: 'deliveries', load: () => import('./views/monitors/delivery-list-page.tsx') },
  { path: 'monitors/:namespace/:name', load: () => import('./views/monitors/monitor-page.tsx') },
  { path: 'scans/:namespace/:name', load: () => import('./views/scans/scan-page.tsx') },
]
