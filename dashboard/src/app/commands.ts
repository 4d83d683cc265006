// What the command palette offers: pages, things that can be done, and objects by their names.
import { useMemo } from 'react'
import { useNavigate } from 'react-router'
import { useObjects } from '../data/lists.ts'
import { namespaceOf } from '../data/summary.ts'
import { switchDirection } from '../parts/direction.ts'
import { useScopedPath } from '../parts/scope.ts'
import { switchTheme } from '../parts/theme.ts'
import { signOut } from '../sign-in/sign-out.ts'
import { useOfferedViews } from './views.ts'

export type Command = { id: string; title: string; sort: string; run: () => void }

function useFixedCommands(): Command[] {
  const navigate = useNavigate()
  const scoped = useScopedPath()
  const pages = useOfferedViews().map(({ path, title }) => ({
    id: `page ${path}`,
    title,
    sort: 'Page',
    run: () => void navigate(scoped(`/${path}`)),
  }))
  return [
    ...pages,
    { id: 'theme', title: 'Switch between dark and light', sort: 'Command', run: switchTheme },
    { id: 'direction', title: 'Switch between left to right and right to left', sort: 'Command', run: switchDirection },
    { id: 'leave', title: 'Sign out', sort: 'Command', run: () => void signOut() },
  ]
}

/** Tasks that are loaded already: the newest. */
function useTaskCommands(): Command[] {
  const navigate = useNavigate()
  const { items } = useObjects('Task', { allNamespaces: true, sort: '-created' })
  return items.map((task) => {
    const place = `${namespaceOf(task)}/${task.metadata.name}`
    return { id: `task ${place}`, title: place, sort: 'Task', run: () => void navigate(`/tasks/${place}`) }
  })
}

const mostShown = 30

/** Every word must occur; what begins with the text comes first. */
export function findCommands(commands: readonly Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = commands.filter(({ title, sort }) => {
    const searched = `${sort} ${title}`.toLowerCase()
    return words.every((word) => searched.includes(word))
  })
  const starts = ({ title }: Command) => (title.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1)
  return found.toSorted((a, b) => starts(a) - starts(b)).slice(0, mostShown)
}

export function useCommands(text: string): Command[] {
  const all = [...useFixedCommands(), ...useTaskCommands()]
  // biome-ignore lint/correctness/useExhaustiveDependencies: commands are made anew each time; their number tells of new ones
  return useMemo(() => findCommands(all, text), [text, all.length])
}
