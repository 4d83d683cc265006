// What runners dial: each speaks for itself alone, with its own credential.
import * as routes from '../../contract/api/tasks/runners.ts'
import { SvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { Bind } from '../bind.ts'
import type { HttpDeps } from '../deps.ts'

/** `draining`: the service stops, and no connection may last. */
export function bindRunners(bind: Bind, { ports }: HttpDeps, draining: AbortSignal): void {
  /** Without any, nobody has a credential. */
  const runners = () => {
    if (ports.runners !== undefined) return ports.runners
    throw new SvcError('NotConfigured', 'this service accepts no runners')
  }
  bind.json(routes.registerRunner, ({ caller, body }) => runners().register(caller, body))
  bind(routes.readWork, ({ caller, params }) => {
    const stream = runners().readWork(caller, params.id)
    stream.once(
      'close',
      onAbort(draining, () => stream.push(null)),
    )
    return { stream, contentType: 'application/x-ndjson' }
  })
  bind.json(routes.renewRunner, ({ caller, params, body }) => runners().renew(caller, params.id, body))
  bind(routes.drainRunner, ({ caller, params, body }) => {
    runners().drain(caller, params.id, body.attempts)
    return { empty: true }
  })
}
