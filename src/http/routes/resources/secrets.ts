// Secrets: answers contain metadata only, never values (SECRET-001).
import * as routes from '../../../contract/api/resources/secrets.ts'
import type { SecretMetadata } from '../../../ports/resources/secrets.ts'
import type { Bind } from '../../bind.ts'
import { namedNamespace, pageOf, wrapPage } from '../../paging.ts'
import type { RouteContext } from '../../route-context.ts'

function presentSecret({ annotations, ...secret }: SecretMetadata): routes.SecretItem {
  const hosts = annotations['svc.ai/allowed-hosts']
  return { ...secret, allowedHosts: hosts?.split(',') }
}

export function bindSecrets(bind: Bind, { usecases }: RouteContext): void {
  bind(routes.listSecrets, async ({ caller, namespace, query }) => {
    const all = await usecases.secrets.list(caller, namedNamespace({ namespace }))
    return { json: wrapPage(pageOf(all, query), presentSecret) }
  })
  bind(routes.createSecret, async ({ caller, namespace, body }) => {
    return { json: presentSecret(await usecases.secrets.create(caller, { ...body, namespace })) }
  })
  bind(routes.updateSecret, async ({ caller, namespace, params, body }) => {
    return { json: presentSecret(await usecases.secrets.update(caller, { namespace, name: params.name }, body)) }
  })
  bind(routes.deleteSecret, async ({ caller, namespace, params }) => {
    await usecases.secrets.remove(caller, { namespace, name: params.name })
    return { empty: true }
  })
}
