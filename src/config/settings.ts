// Every setting of the service once: its flag, its environment name, its place in the file, its default, its meaning.
import { z } from 'zod'
import type { Setting } from './fields.ts'
import { chatSettings, memorySettings } from './settings/chat.ts'
import { codehostSettings, gitSettings, webhookSettings } from './settings/codehost.ts'
import { callerSettings, contextTokenSettings, oidcSettings } from './settings/identity.ts'
import { kubernetesSettings } from './settings/kubernetes.ts'
import { networkSettings } from './settings/network.ts'
import { serviceSettings, storageSettings } from './settings/service.ts'
import { tasksSettings } from './settings/tasks.ts'
import { proxiesSettings, toolsSettings } from './settings/tools.ts'
import { actorSettings, agentSandboxSettings, workspacesSettings } from './settings/workspaces.ts'

export type { Setting } from './fields.ts'

/** In the order of help and reference. */
const groups = {
  Service: serviceSettings,
  'Storage and retention': storageSettings,
  Tasks: tasksSettings,
  Network: networkSettings,
  Git: gitSettings,
  'Code host': codehostSettings,
  Tools: toolsSettings,
  Memory: memorySettings,
  Chat: chatSettings,
  Proxies: proxiesSettings,
  Webhook: webhookSettings,
  Callers: callerSettings,
  'OpenID Connect': oidcSettings,
  'Context tokens': contextTokenSettings,
  Kubernetes: kubernetesSettings,
  'Execution workspaces': workspacesSettings,
  'agent-sandbox': agentSandboxSettings,
  Actors: actorSettings,
} as const

export const settings = {
  ...serviceSettings,
  ...storageSettings,
  ...tasksSettings,
  ...networkSettings,
  ...gitSettings,
  ...codehostSettings,
  ...toolsSettings,
  ...memorySettings,
  ...chatSettings,
  ...proxiesSettings,
  ...webhookSettings,
  ...callerSettings,
  ...oidcSettings,
  ...contextTokenSettings,
  ...kubernetesSettings,
  ...workspacesSettings,
  ...agentSandboxSettings,
  ...actorSettings,
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
export type Settings = { readonly [N in SettingName]: z.output<(typeof settings)[N]['schema']> }

/** `maxConcurrentTasks` -> `max-concurrent-tasks`, the flag's name. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `maxConcurrentTasks` -> `SVC_MAX_CONCURRENT_TASKS` (NAME-002). */
export function environmentNameOf(name: string): string {
  const { env }: Setting = settings[name as SettingName] ?? {}
  return env ?? `SVC_${flagOf(name).replaceAll('-', '_').toUpperCase()}`
}

export type SettingDoc = {
  name: string
  group: string
  flag: string
  environment: string
  help: string
  /** Shown as the flag's value; in brackets when the value is optional. */
  placeholder: string
  /** As it would be typed; empty when there is none. */
  default: string
  /** The allowed values; empty when there are others. */
  values: readonly string[]
  /** Whether it has several values, with commas between them or each with a flag of its own. */
  isList: boolean
  example?: string
}

/** Every setting as help and reference show it, group by group. */
export function describeSettings(): SettingDoc[] {
  return Object.entries(groups).flatMap(([group, members]) =>
    Object.entries(members as Record<string, Setting>).map(([name, setting]) => describeSetting(name, setting, group)),
  )
}

function describeSetting(name: string, setting: Setting, group: string): SettingDoc {
  const { schema, help, example } = setting
  const standsAlone = schema.safeParse(true).success && !schema.safeParse('7').success
  const values = listValues(schema)
  const usual = schema.safeParse(undefined).data
  const isNumber = typeof schema.safeParse('100').data === 'number'
  const sort = values.length > 0 ? 'word' : isNumber ? 'number' : 'value'
  return {
    name,
    group,
    flag: `--${flagOf(name)}`,
    environment: environmentNameOf(name),
    help,
    placeholder: standsAlone ? '[true|false]' : `<${setting.placeholder ?? sort}>`,
    default: String(usual ?? ''),
    values,
    isList: Array.isArray(usual),
    example,
  }
}

function listValues(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return listValues(schema.unwrap() as z.ZodType)
  return schema instanceof z.ZodEnum ? schema.options.map(String) : []
}
