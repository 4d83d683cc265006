// The kinds that the command line lists, gets, applies and deletes, with their routes: one table.
import { z } from 'zod'
import { commandHint } from '../../client/command-hint.ts'
import { createAgent, deleteAgent, getAgent, listAgents, updateAgent } from '../../contract/api/agents/agents.ts'
import {
  createMonitor,
  deleteMonitor,
  getMonitor,
  listMonitors,
  updateMonitor,
} from '../../contract/api/monitors/monitors.ts'
import {
  createProvider,
  deleteProvider,
  getProvider,
  listProviders,
  updateProvider,
} from '../../contract/api/providers/providers.ts'
import {
  createConfigMap,
  deleteConfigMap,
  getConfigMap,
  listConfigMaps,
  updateConfigMap,
} from '../../contract/api/resources/configmaps.ts'
import type { Route } from '../../contract/api/resources/route.ts'
import { createTask, deleteTask, getTask, listTasks, updateTask } from '../../contract/api/tasks/tasks.ts'
import { createSkill, deleteSkill, getSkill, listSkills, updateSkill } from '../../contract/api/tools/skills.ts'
import { createTool, deleteTool, getTool, listTools, updateTool } from '../../contract/api/tools/tools.ts'
import { SvcError } from '../../errors.ts'
import { findNearest } from '../../lib/nearest.ts'

export type KindEntry = {
  kind: string
  /** Absent: the API version of the service's own kinds. */
  apiVersion?: string
  /** The first is the command's name, the second its plural; all are accepted as a kind. */
  words: [string, string, ...string[]]
  description: string
  /** How to create one. */
  hint: () => string
  /** Name of the path parameter. */
  parameter: 'id' | 'name'
  create: Route
  get: Route
  list: Route
  remove: Route
  update: Route
  /** Useful facts about one that its fields do not show. */
  note?: (object: unknown, name: string) => string
}

const ProviderSwitch = z.object({ spec: z.object({ serverTools: z.boolean().default(true) }) })

/** The proxies add the service's tools to requests unless one of three places switches them off. */
function describeServerTools(object: unknown, name: string): string {
  const isOff = ProviderSwitch.safeParse(object).data?.spec.serverTools === false
  if (isOff) return `server tools are off for ${name}: the proxies add no tools to its requests (spec.serverTools)`
  return (
    `server tools are on: the proxies add the service's tools to requests for ${name}. Off for it: spec.serverTools: false; ` +
    `for a token: ${commandHint('token create NAME --server-tools off')}; for one request: the header X-Svc-Tools: disabled`
  )
}

export const kindEntries: KindEntry[] = [
  {
    kind: 'Agent',
    words: ['agent', 'agents', 'ag'],
    description: 'who does the work: a model, a prompt, tools and skills',
    hint: () => `\`${commandHint('agent create --help')}\` tells how to create one`,
    parameter: 'name',
    create: createAgent,
    get: getAgent,
    list: listAgents,
    update: updateAgent,
    remove: deleteAgent,
  },
  {
    kind: 'Provider',
    words: ['provider', 'providers', 'prov'],
    description: 'services that answer for language models',
    hint: () => `\`${commandHint('provider create --help')}\` tells how to create one`,
    parameter: 'name',
    create: createProvider,
    get: getProvider,
    list: listProviders,
    update: updateProvider,
    remove: deleteProvider,
    note: describeServerTools,
  },
  {
    kind: 'Tool',
    words: ['tool', 'tools'],
    description: 'tools that models may call: the built-in ones and your own',
    hint: () => `\`${commandHint('apply -f FILE')}\` makes one`,
    parameter: 'name',
    create: createTool,
    get: getTool,
    list: listTools,
    update: updateTool,
    remove: deleteTool,
  },
  {
    kind: 'Skill',
    words: ['skill', 'skills', 'sk'],
    description: 'texts with instructions that agents follow',
    hint: () => `\`${commandHint('skill add FOLDER')}\` makes one`,
    parameter: 'name',
    create: createSkill,
    get: getSkill,
    list: listSkills,
    update: updateSkill,
    remove: deleteSkill,
  },
  {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    words: ['configmap', 'configmaps', 'cm'],
    description: 'texts that tasks, agents and skills refer to',
    hint: () => `\`${commandHint('configmap create --help')}\` tells how to create one`,
    parameter: 'name',
    create: createConfigMap,
    get: getConfigMap,
    list: listConfigMaps,
    update: updateConfigMap,
    remove: deleteConfigMap,
  },
  {
    kind: 'Task',
    words: ['task', 'tasks', 'st'],
    description: 'pieces of work: see, follow, steer',
    hint: () => `\`${commandHint('run "say hello"')}\` makes one`,
    parameter: 'id',
    create: createTask,
    get: getTask,
    list: listTasks,
    update: updateTask,
    remove: deleteTask,
  },
  {
    kind: 'RepositoryMonitor',
    words: ['monitor', 'monitors', 'repositorymonitor', 'repositorymonitors', 'rmon'],
    description: 'repositories whose pull requests an agent reviews',
    hint: () => `\`${commandHint('monitor create NAME --repo URL --reviewer AGENT')}\` creates one`,
    parameter: 'name',
    create: createMonitor,
    get: getMonitor,
    list: listMonitors,
    update: updateMonitor,
    remove: deleteMonitor,
  },
]

/** What has commands of its own, by the words that are typed as kinds. */
const elsewhere: Record<string, string> = {
  secret: 'secret',
  session: 'session list',
  scan: 'scan list',
  repositoryscan: 'scan list',
  workspace: 'workspace list',
  memory: 'memory list',
  memorie: 'memory list',
  proposal: 'proposal list',
  approval: 'approvals list',
  token: 'token list',
  budget: 'budget list',
  context: 'config contexts',
}

/** The entry for a word such as `agents` or a kind such as `Agent`; InvalidRequest with a guess, or the known ones. */
export function findEntry(word: string): KindEntry {
  const typed = word.toLowerCase()
  const entry = kindEntries.find((known) => known.kind === word || known.words.includes(typed))
  if (entry) return entry
  const own = elsewhere[typed.replace(/s$/, '')]
  const nearest = findNearest(
    word,
    kindEntries.flatMap(({ words: [one, many] }) => [one, many]),
  )
  const advice =
    own !== undefined
      ? `it has commands of its own: \`${commandHint(own)}\``
      : nearest !== undefined
        ? `did you mean ${nearest}?`
        : `use one of ${kindEntries.map(({ kind }) => kind).join(', ')}`
  throw new SvcError('InvalidRequest', `\`${word}\` is not a kind that this command accepts; ${advice}`)
}

/** Accepts both `agent x y` and `agent/x agent/y`, the form that `-o name` prints. */
export function readTargets(kind: string, names: string[]): { entry: KindEntry; targets: string[] } {
  const [word = '', name] = kind.split('/')
  const entry = findEntry(word)
  const others = names.map((other) => readTarget(entry, other))
  return { entry, targets: name === undefined ? others : [name, ...others] }
}

function readTarget(entry: KindEntry, text: string): string {
  const [word = '', name] = text.split('/')
  if (name === undefined) return text
  if (findEntry(word) === entry) return name
  throw new SvcError('InvalidRequest', `\`${text}\` is not of kind ${entry.words[0]}; name one kind at a time`)
}
