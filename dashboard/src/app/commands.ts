// What the command palette offers: pages, things that can be done, and what the service finds.
import { useNavigate } from 'react-router'
import { switchDirection } from '../parts/direction.ts'
import { useScopedPath } from '../parts/scope.ts'
import { switchTheme } from '../parts/theme.ts'
import { isAllowed, useCaller } from '../session/caller.ts'
import { signOut } from '../sign-in/sign-out.ts'
import type { Command } from './command.ts'
import { creations } from './creations.ts'
import { useFoundObjects } from './object-search.ts'
import { useOfferedViews } from './views.ts'

/** Pages that no navigation names. */
const morePages = [
  { path: '/proposals', title: 'Proposals' },
  { path: '/deliveries', title: 'Deliveries' },
]

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
