// What the command palette offers: pages, things that can be done, and what the service finds.
import { useNavigate } from 'react-router'
import { createAgent } from '../../../src/contract/api/agents/agents.ts'
import { putBudget } from '../../../src/contract/api/budgets/budgets.ts'
import { sendChat } from '../../../src/contract/api/chat/chat.ts'
import { createMonitor } from '../../../src/contract/api/monitors/monitors.ts'
import { createProvider } from '../../../src/contract/api/providers/providers.ts'
import type { Route } from '../../../src/contract/api/resources/route.ts'
import { createRepositoryScan } from '../../../src/contract/api/scans/routes.ts'
import { createTask } from '../../../src/contract/api/tasks/tasks.ts'
import { createSkill } from '../../../src/contract/api/tools/skills.ts'
import { createTool } from '../../../src/contract/api/tools/tools.ts'
import { switchDirection } from '../parts/direction.ts'
import { useScopedPath } from '../parts/scope.ts'
import { switchTheme } from '../parts/theme.ts'
import { isAllowed, useCaller } from '../session/caller.ts'
import { signOut } from '../sign-in/sign-out.ts'
import type { Command } from './command.ts'
import { useFoundObjects } from './object-search.ts'
import { useOfferedViews } from './views.ts'

const creations: { title: string; path: string; to: Pick<Route, 'verb'> }[] = [
  { title: 'Create a task', path: '/tasks/new', to: createTask },
  { title: 'Begin a chat', path: '/chat', to: sendChat },
  { title: 'Create an agent', path: '/agents/new', to: createAgent },
  { title: 'Create a tool', path: '/tools/new', to: createTool },
  { title: 'Create a skill', path: '/skills/new', to: createSkill },
  { title: 'Create a provider', path: '/providers/new', to: createProvider },
  { title: 'Create a monitor', path: '/monitors/new', to: createMonitor },
  { title: 'Create a scan', path: '/scans/new', to: createRepositoryScan },
  { title: 'Create a budget', path: '/budgets/new', to: putBudget },
]

/** Pages that no navigation names. */
const morePages = [
  { path: '/proposals', title: 'Proposals' },
  { path: '/deliveries', title: 'Deliveries' },
]

/** Goes to where something is created, as far as the caller may: of the list that is shown, else a task. */
export function useCreation(): (pathname: string) => void {
  const navigate = useNavigate()
  const scoped = useScopedPath()
  const caller = useCaller()
  return (pathname) => {
    const offered = creations.filter(({ to }) => isAllowed(caller, to.verb))
    const own = offered.find(({ path }) => path.split('/')[1] === pathname.split('/')[1])
    const chosen = own ?? offered[0]
    if (chosen !== undefined) void navigate(scoped(chosen.path))
  }
}

function useFixedCommands(onKeys: () => void): Command[] {
  const navigate = useNavigate()
  const scoped = useScopedPath()
  const caller = useCaller()
  const go = (path: string) => () => void navigate(scoped(path))
  const views = useOfferedViews().map(({ path, title }) => ({ path: `/${path}`, title }))
  const pages = [...views, ...morePages].map(({ path, title }) => ({
    id: `page ${path}`,
    title,
    sort: 'Page',
    run: go(path),
  }))
  const made = creations
    .filter(({ to }) => isAllowed(caller, to.verb))
    .map(({ title, path }) => ({ id: `create ${path}`, title, sort: 'Command', run: go(path) }))
  return [
    ...pages,
    ...made,
    { id: 'theme', title: 'Switch between dark and light', sort: 'Command', run: switchTheme },
    { id: 'direction', title: 'Switch between left to right and right to left', sort: 'Command', run: switchDirection },
    { id: 'keys', title: 'Show the keys', sort: 'Command', run: onKeys },
    { id: 'leave', title: 'Sign out', sort: 'Command', run: () => void signOut() },
  ]
}

const mostShown = 40

/** Every word must occur; what begins with the text comes first. */
export function findCommands(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = commands.filter(({ title, sort }) => {
    const searched = `${sort} ${title}`.toLowerCase()
    return words.every((word) => searched.includes(word))
  })
  const starts = ({ title }: Command) => (title.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1)
  return found.toSorted((a, b) => starts(a) - starts(b))
}

/** `searched` is the text once it has rested. */
export function useCommands(text: string, searched: string, onKeys: () => void): Command[] {
  const fixed = findCommands(useFixedCommands(onKeys), text)
  return [...fixed, ...useFoundObjects(searched)].slice(0, mostShown)
}
