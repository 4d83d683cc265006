// Services by name in one file, for this user’s eyes only, and which service a command means.
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { messageOf, SvcError } from '../errors.ts'
import { hasCode } from '../lib/error-code.ts'
import { commandHint } from './command-hint.ts'

/** The service of this machine, which needs no entry. */
export const localContext = 'local'

const StoredContext = z.strictObject({
  server: z.string(),
  /** Absent: that of a login, or of SVC_TOKEN. */
  token: z.string().optional(),
  namespace: z.string().optional(),
})
export type StoredContext = z.infer<typeof StoredContext>

const File = z.strictObject({ current: z.string().optional(), contexts: z.record(z.string(), StoredContext) })
type File = z.infer<typeof File>

export type ContextStore = {
  list(): Record<string, StoredContext>
  /** Of the context in use; undefined: this machine's service. */
  current(): string | undefined
  /** InvalidRequest for a name that is not stored. */
  find(name: string): StoredContext
  keep(name: string, context: StoredContext): void
  /** `local` is this machine's service. InvalidRequest for a name that is not stored. */
  use(name: string): void
  /** One that is in use is in use no more. InvalidRequest for a name that is not stored. */
  remove(name: string): void
}

export type ContextStoreOptions = {
  path: string
  /** Writes a file whole or not at all, mode 0600. */
  write: (path: string, text: string) => void
}

/** InvalidRequest for a file that cannot be read: without it the commands would go elsewhere. */
function readAll(path: string): File {
  try {
    return File.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    // Also where the folder is none, or somebody else's: what needs it says so.
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return { contexts: {} }
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error)
    throw new SvcError('InvalidRequest', `${path} is not a file of contexts; repair or remove it: ${reason}`)
  }
}

export function createContextStore({ path, write }: ContextStoreOptions): ContextStore {
  const save = (file: File) => write(path, `${JSON.stringify(file, null, 2)}\n`)
  const find = (name: string): StoredContext => {
    const { contexts } = readAll(path)
    const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined
    if (found !== undefined) return found
    throw new SvcError(
      'InvalidRequest',
      `there is no context ${name}: \`${commandHint('config contexts')}\` lists them`,
    )
  }
  return {
    find,
    list: () => readAll(path).contexts,
    current: () => readAll(path).current,
    keep(name, context) {
      const file = readAll(path)
      save({ ...file, contexts: { ...file.contexts, [name]: context } })
    },
    use(name) {
      if (name !== localContext) find(name)
      const { contexts } = readAll(path)
      save({ ...(name === localContext ? {} : { current: name }), contexts })
    },
    remove(name) {
      find(name)
      const { current, contexts } = readAll(path)
      const { [name]: _removed, ...rest } = contexts
      save({ ...(current === undefined || current === name ? {} : { current }), contexts: rest })
    },
  }
}

/** What a line says of it. */
type Naming = {
  server?: string
  context?: string
  token?: string
  /** `--data-dir` and others, by setting name. */
  settings: Record<string, unknown>
}

export type ServiceTarget = {
  /** As it was written; undefined: the service of this machine's data folder. */
  server?: string | undefined
  /** What named it, such as `--server` or `context prod`. */
  by?: string
  context?: string
  token?: string | undefined
  namespace?: string | undefined
}

type TargetSources = { env: Record<string, string | undefined>; contexts: ContextStore }

/** InvalidRequest when the context that is named is not stored, or two targets are named. */
export function readTarget(options: Naming, { env, contexts }: TargetSources): ServiceTarget {
  const { server, context, settings } = options
  if (server !== undefined && context !== undefined)
    throw new SvcError('InvalidRequest', 'give --server or --context, not both')
  const token = options.token ?? (env.SVC_TOKEN || undefined)
  if (server !== undefined) return { server, by: '--server', token }
  if (context !== undefined) return targetOf(context, options, { env, contexts })
  // A data folder that is named on the line is that of a local service.
  if (settings.dataDir !== undefined) return { token }
  if (env.SVC_SERVER) return { server: env.SVC_SERVER, by: 'SVC_SERVER', token }
  const stored = env.SVC_CONTEXT || contexts.current()
  return stored === undefined ? { token } : targetOf(stored, options, { env, contexts })
}

/** A context's own token goes before SVC_TOKEN, which may be meant for another service. */
function targetOf(name: string, options: Naming, { env, contexts }: TargetSources): ServiceTarget {
  if (name === localContext) return { token: options.token }
  const { server, token, namespace } = contexts.find(name)
  return {
    server,
    by: `context ${name}`,
    context: name,
    token: options.token ?? token ?? (env.SVC_TOKEN || undefined),
    namespace,
  }
}
