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

const goDuration = /^(\d+(\.\d+)?(ms|s|m|h))+$/
const duration = z.string('must be a duration').regex(goDuration, 'must be a duration such as 30s, 15m or 1h30m')
const retention = z
  .string('must be a duration or days')
  .refine((value) => /^\d+d$/.test(value) || goDuration.test(value), 'must be days or a duration, such as 90d or 12h')
const text = z.string('must be text').min(1, 'must not be empty')
const list = z.union([z.array(z.string()), z.string().transform((all) => all.split(',').map((item) => item.trim()))], {
  error: 'must be names with commas between them, or a list',
})
const names = list.transform((items) => items.filter((item) => item !== ''))
const flag = z.union([z.boolean(), z.stringbool()], { error: 'must be true or false' })

/** A whole number, as text or as YAML has it. */
function whole(minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`
  const error = `must be a whole number ${range}`
  const digits = z
    .string(error)
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
  return z.union([z.number(error), digits], { error }).pipe(z.int(error).min(minimum, error).max(maximum, error))
}

function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` })
}

export const settings = {
  mode: define(oneOf(['auto', 'embedded']).default('auto'), {
    help: 'where tasks run and resources live; auto is embedded',
  }),
  host: define(text.default('127.0.0.1'), { help: 'address to listen on' }),
  port: define(whole(0, 65_535).default(8080), {
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
  dataDir: define(text.optional(), {
    help: 'folder of the store (default: $XDG_DATA_HOME/svc)',
    placeholder: 'dir',
  }),
  configDir: define(text.optional(), {
    help: 'folder of the token and the secret key (default: $XDG_CONFIG_HOME/svc)',
    placeholder: 'dir',
  }),
  secretKeyFile: define(text.optional(), { help: 'file of the key that encrypts secrets', placeholder: 'file' }),
  bootstrapToken: define(z.string('must be text').min(16, 'must have at least 16 characters').optional(), {
    help: "the owner's token; generated and kept in the config folder when absent",
    secret: true,
  }),
  readyFile: define(text.optional(), {
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
  logLevel: define(oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'), {
    help: 'least level that is logged',
  }),
  maxConcurrentTasks: define(whole(1).optional(), {
    help: 'tasks that run at once (default: twice the CPU count, at least 4)',
  }),
  maxTasksPerNamespace: define(whole(0).default(0), { help: 'running tasks per namespace; 0 is no limit' }),
  allowUnsandboxed: define(flag.default(false), { help: 'run local commands without a sandbox where none can be had' }),
  allowNetwork: define(names.default([]), {
    help: 'private networks that tools, callbacks and providers may reach',
    placeholder: 'cidr,...',
  }),
  containerSocket: define(text.optional(), {
    help: 'Docker-compatible socket (default: DOCKER_HOST, then the usual places)',
    placeholder: 'path',
  }),
  codeImage: define(text.default('python:3.12-slim'), {
    help: 'image for code_exec where only a container engine is there',
    placeholder: 'image',
  }),
  planStore: define(oneOf(['sql', 'none']).default('sql'), { help: 'where plans are kept; none turns plans off' }),
  hideUnavailableTools: define(flag.default(false), { help: 'omit built-in tools that can not run here' }),
  searchBackend: define(oneOf(['searxng', 'brave', 'tavily', 'json']).optional(), { help: 'backend of web_search' }),
  searchUrl: define(z.url('must be an address such as http://127.0.0.1:8888').optional(), {
    help: 'address of the search backend',
    placeholder: 'url',
  }),
  searchApiKey: define(text.optional(), { help: 'key of the search backend', secret: true }),
  defaultModel: define(text.optional(), {
    help: 'model of the provider that is made from a key in the environment',
    placeholder: 'name',
  }),
  toolTimeout: define(duration.default('60s'), {
    help: 'longest run of one tool call in a task',
    placeholder: 'duration',
  }),
  maxIterations: define(whole(1).default(50), { help: 'model calls of one ai task at most' }),
  sessionRetention: define(retention.default('90d'), {
    help: 'how long an unused session is kept',
    placeholder: 'duration',
  }),
  eventRetention: define(retention.default('30d'), {
    help: 'how long timeline events are kept',
    placeholder: 'duration',
  }),
  usageRetention: define(retention.default('400d'), {
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
