// Which service a command means: flags first, then the environment, then the context in use, then this machine's own.
import { SvcError } from '../errors.ts'
import { type KeptContexts, localContext } from './contexts.ts'

/** What a line says of it. */
type Naming = {
  server?: string
  context?: string
  token?: string
  /** `--data-dir` and others, by setting name. */
  settings: Record<string, unknown>
}

export type Target = {
  /** As it was written; undefined: the service of this machine's data folder. */
  server?: string | undefined
  /** What named it, such as `--server` or `context prod`. */
  by?: string
  context?: string
  token?: string | undefined
  namespace?: string | undefined
}

type Given = { env: Record<string, string | undefined>; contexts: KeptContexts }

/** InvalidRequest when the context that is named is not kept, or two places are named. */
export function readTarget(options: Naming, { env, contexts }: Given): Target {
  const { server, context, settings } = options
  if (server !== undefined && context !== undefined)
    throw new SvcError('InvalidRequest', 'give --server or --context, not both')
  const token = options.token ?? (env.SVC_TOKEN || undefined)
  if (server !== undefined) return { server, by: '--server', token }
  if (context !== undefined) return targetOf(context, options, { env, contexts })
  // A data folder that is named on the line is that of a local service.
  if (settings.dataDir !== undefined) return { token }
  if (env.SVC_SERVER) return { server: env.SVC_SERVER, by: 'SVC_SERVER', token }
  const kept = env.SVC_CONTEXT || contexts.current()
  return kept === undefined ? { token } : targetOf(kept, options, { env, contexts })
}

/** A context's own token goes before SVC_TOKEN, which may be meant for another service. */
function targetOf(name: string, options: Naming, { env, contexts }: Given): Target {
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
