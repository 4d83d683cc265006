// What can be created, and where.
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
import { useScopedPath } from '../parts/scope.ts'
import { isAllowed, useCaller } from '../session/caller.ts'

export const creations: { title: string; path: string; to: Pick<Route, 'verb'> }[] = [
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
