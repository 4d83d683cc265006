// Every view of the dashboard: its address, its place in the navigation, and its code, which is fetched when it is first opened.
import type { ComponentType } from 'react'
import type { IconName } from '../parts/icon.tsx'

export type ViewGroup = 'Work' | 'Code' | 'Catalogue' | 'Service'

export type View = {
  /** Without a slash at its beginning; empty for the first one. */
  path: string
  title: string
  icon: IconName
  group: ViewGroup
  load: () => Promise<{ default: ComponentType }>
}

export const views: View[] = [
  {
    path: '',
    title: 'Overview',
    icon: 'overview',
    group: 'Work',
    load: () => import('../views/overview/overview-page.tsx'),
  },
  {
    path: 'tasks',
    title: 'Tasks',
    icon: 'tasks',
    group: 'Work',
    load: () => import('../views/tasks/task-list-page.tsx'),
  },
  { path: 'chat', title: 'Chat', icon: 'chat', group: 'Work', load: () => import('../views/chat/chat-page.tsx') },
]

/** Pages below a view, which no navigation names. */
export const detailPages: { path: string; load: View['load'] }[] = [
  { path: 'tasks/:namespace/:name', load: () => import('../views/tasks/task-page.tsx') },
]

export const viewGroups: ViewGroup[] = ['Work', 'Code', 'Catalogue', 'Service']
