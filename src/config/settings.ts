// Every setting of the service once: its flag, its environment name, its place in the file, its default, its meaning.
import { z } from 'zod'

type SettingOptions = {
  help: string
  /** Never printed. */
  secret?: boolean
  /** Shown in help instead of the type. */
  placeholder?: string
  /** Environment name when it is not SVC_<NAME>. */
  env?: string
}

export type Setting<S extends z.ZodType = z.ZodType> = SettingOptions & { schema: S }

function define<S extends z.ZodType>(schema: S, options: SettingOptions): Setting<S> {
  return { schema, ...options }
}

const duration = z.string().regex(/^(\d+(\.\d+)?(ms|s|m|h|d))+$/, 'must be a duration such as 30s, 15m, 24h or 90d')
const list = z.union([z.array(z.string()), z.string().transform((text) => text.split(',').map((item) => item.trim()))])
const names = list.transform((items) => items.filter((item) => item !== ''))
const flag = z.union([z.boolean(), z.stringbool()])
const count = (minimum: number) => z.coerce.number().int().min(minimum)

export const settings = {
  mode: define(z.enum(['auto', 'embedded']).default('auto'), {
    help: 'where tasks run and resources live; auto is embedded',
  }),
  host: define(z.string().min(1).default('127.0.0.1'), { help: 'address to listen on' }),
  port: define(z.coerce.number().int().min(0).max(65535).default(8080), {
    help: 'port to listen on; 0 picks a free one',
  }),
  publicHost: define(names.default([]), {
    help: 'Host names, beside the bound address, that requests may name',
    placeholder: 'name,...',
  }),
  corsAllowedOrigins: define(names.default([]), {
    help: 'origins of web pages that may call the API',
    placeholder: 'origin,...',
  }),
  dataDir: define(z.string().optional(), {
    help: 'folder of the store (default: $XDG_DATA_HOME/svc)',
    placeholder: 'dir',
  }),
  configDir: define(z.string().optional(), {
    help: 'folder of the token and the secret key (default: $XDG_CONFIG_HOME/svc)',
    placeholder: 'dir',
  }),
  secretKeyFile: define(z.string().optional(), { help: 'file of the key that encrypts secrets', placeholder: 'file' }),
  bootstrapToken: define(z.string().min(16, 'must have at least 16 characters').optional(), {
    help: "the owner's token; generated and kept in the config folder when absent",
    secret: true,
  }),
  readyFile: define(z.string().optional(), {
    help: 'gets {"url","token"} once the service serves',
    placeholder: 'file',
  }),
  idleExit: define(duration.optional(), {
    help: 'stop when nothing was asked or ran for so long',
    placeholder: 'duration',
  }),
  drainTimeout: define(duration.default('20s'), {
    help: 'how long a stop waits for requests under way',
    placeholder: 'duration',
  }),
  logLevel: define(z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'), {
    help: 'least level that is logged',
  }),
  maxConcurrentTasks: define(count(1).optional(), {
    help: 'tasks that run at once (default: twice the CPU count, at least 4)',
  }),
  maxTasksPerNamespace: define(count(0).default(0), { help: 'running tasks per namespace; 0 is no limit' }),
  allowUnsandboxed: define(flag.default(false), { help: 'run local commands without a sandbox where none can be had' }),
  allowNetwork: define(names.default([]), {
    help: 'private networks that tools, callbacks and providers may reach',
    placeholder: 'cidr,...',
  }),
  containerSocket: define(z.string().optional(), {
    help: 'Docker-compatible socket (default: DOCKER_HOST, then the usual places)',
    placeholder: 'path',
  }),
  codeImage: define(z.string().default('python:3.12-slim'), {
    help: 'image for code_exec where only a container engine is there',
    placeholder: 'image',
  }),
  planStore: define(z.enum(['sql', 'none']).default('sql'), { help: 'where plans are kept; none turns plans off' }),
  hideUnavailableTools: define(flag.default(false), { help: 'omit built-in tools that can not run here' }),
  searchBackend: define(z.enum(['searxng', 'brave', 'tavily', 'json']).optional(), { help: 'backend of web_search' }),
  searchUrl: define(z.url().optional(), { help: 'address of the search backend', placeholder: 'url' }),
  searchApiKey: define(z.string().optional(), { help: 'key of the search backend', secret: true }),
  defaultModel: define(z.string().min(1).optional(), {
    help: 'model of the provider that is made from a key in the environment',
    placeholder: 'name',
  }),
  toolTimeout: define(duration.default('60s'), {
    help: 'longest run of one tool call in a task',
    placeholder: 'duration',
  }),
  maxIterations: define(count(1).default(50), { help: 'model calls of one ai task at most' }),
  sessionRetention: define(duration.default('90d'), {
    help: 'how long an unused session is kept',
    placeholder: 'duration',
  }),
  eventRetention: define(duration.default('30d'), {
    help: 'how long timeline events are kept',
    placeholder: 'duration',
  }),
  usageRetention: define(duration.default('400d'), {
    help: 'how long usage records are kept',
    placeholder: 'duration',
  }),
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
export type Settings = { readonly [N in SettingName]: z.output<(typeof settings)[N]['schema']> }

/** `maxConcurrentTasks` -> `max-concurrent-tasks`, the flag's name. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `maxConcurrentTasks` -> `SVC_MAX_CONCURRENT_TASKS` (NAME-002). */
export function environmentNameOf(name: string): string {
  return `SVC_${flagOf(name).replaceAll('-', '_').toUpperCase()}`
}
