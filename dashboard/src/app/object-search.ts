// Objects and texts that the service finds for the command palette.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { listAgents } from '../../../src/contract/api/agents/agents.ts'
import { searchTranscripts } from '../../../src/contract/api/chat/transcripts.ts'
import { listMonitors } from '../../../src/contract/api/monitors/monitors.ts'
import { listProviders } from '../../../src/contract/api/providers/providers.ts'
import { listConfigMaps } from '../../../src/contract/api/resources/configmaps.ts'
import type { Route } from '../../../src/contract/api/resources/route.ts'
import { listRepositoryScans } from '../../../src/contract/api/scans/routes.ts'
import { listTasks } from '../../../src/contract/api/tasks/tasks.ts'
import { listSkills } from '../../../src/contract/api/tools/skills.ts'
import { listTools } from '../../../src/contract/api/tools/tools.ts'
import { api } from '../data/api.ts'
import { useScope } from '../parts/scope.ts'
import type { Command } from './command.ts'

type Found = { id: string; title: string; sort: string; path: string }
type Item = { name?: string; namespace?: string; builtin?: boolean; metadata?: { name: string; namespace?: string } }

/** Tools and skills have entries of their own, not summaries. */
const sources: { sort: string; path: string; route: Route; hasEntries?: boolean }[] = [
  { sort: 'Task', path: 'tasks', route: listTasks },
  { sort: 'Agent', path: 'agents', route: listAgents },
  { sort: 'Provider', path: 'providers', route: listProviders },
  { sort: 'Scan', path: 'scans', route: listRepositoryScans },
  { sort: 'Monitor', path: 'monitors', route: listMonitors },
  { sort: 'Tool', path: 'tools', route: listTools, hasEntries: true },
  { sort: 'Skill', path: 'skills', route: listSkills, hasEntries: true },
  { sort: 'Config map', path: 'config-maps', route: listConfigMaps, hasEntries: true },
]

const mostOfKind = 6

function toFound({ sort, path }: (typeof sources)[number], item: Item): Found {
  const name = item.metadata?.name ?? item.name ?? ''
  const namespace = item.builtin === true ? '-' : (item.metadata?.namespace ?? item.namespace ?? 'default')
  return {
    id: `${sort} ${namespace}/${name}`,
    title: `${namespace}/${name}`,
    sort,
    path: `/${path}/${namespace}/${name}`,
  }
}

/** A kind that the caller may not list, or whose list fails, has nothing to find. */
async function searchNames(text: string, scope: object): Promise<Found[]> {
  const lists = sources.map(async (source) => {
    const query = { ...scope, search: text, limit: mostOfKind, ...(!source.hasEntries && { view: 'summary' }) }
    const body = await api().call(source.route as typeof listTasks, { query: query as never })
    return (body.items as Item[]).slice(0, mostOfKind).map((item) => toFound(source, item))
  })
  return (await Promise.all(lists.map((list) => list.catch(() => [])))).flat()
}

async function searchMessages(text: string, scope: object): Promise<Found[]> {
  const { items } = await api().call(searchTranscripts, {
    query: { ...scope, query: text, limit: mostOfKind } as never,
  })
  return items.map(({ namespace, sessionName, createdAt, messageId, snippet }) => ({
    id: `message ${messageId}`,
    title: `${sessionName}: ${snippet}`,
    sort: 'Message',
    path: `/sessions/${namespace}/${encodeURIComponent(sessionName)}?at=${encodeURIComponent(createdAt)}`,
  }))
}

/** What has the text in its name, of all kinds, and messages with its words; the last answer stays until the next is there. */
export function useFoundObjects(text: string): Command[] {
  const navigate = useNavigate()
  const scope = useScope().query
  const found = useQuery({
    queryKey: ['found', scope, text],
    queryFn: async () => [
      ...(await searchNames(text.slice(0, 63), scope)),
      ...(await searchMessages(text, scope).catch(() => [])),
    ],
    enabled: text !== '',
    gcTime: 0,
    placeholderData: (before) => before,
  })
  const items = text === '' ? [] : (found.data ?? [])
  return items.map(({ path, ...command }) => ({ ...command, run: () => void navigate(path) }))
}
