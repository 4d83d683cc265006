// Secrets, whose answers contain metadata only, never values (SECRET-001); config maps, in the form that kubectl writes.
import * as configMapRoutes from '../../../contract/api/resources/configmaps.ts'
import * as routes from '../../../contract/api/resources/secrets.ts'
import { SvcError } from '../../../errors.ts'
import type { ConfigMap } from '../../../ports/resources/configmaps.ts'
import type { SecretMetadata } from '../../../ports/resources/secrets.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { tagOfVersion, versionOfIfMatch } from '../../middleware/conditional.ts'
import { namedNamespace, pageOf, wrapPage } from '../../paging.ts'

function presentSecret({ annotations, ...secret }: SecretMetadata): routes.SecretItem {
  const hosts = annotations['svc.ai/allowed-hosts']
  return { ...secret, allowedHosts: hosts?.split(',') }
}

export function bindSecrets(bind: Bind, { usecases }: RouteContext): void {
  bind(routes.listSecrets, async ({ caller, namespace, query }) => {
    const all = await usecases.secrets.list(caller, namedNamespace({ namespace }))
    return { json: wrapPage(pageOf(all, query), presentSecret) }
  })
  bind.json(routes.createSecret, async ({ caller, namespace, body }) =>
    presentSecret(await usecases.secrets.create(caller, { ...body, namespace })),
  )
  bind.json(routes.updateSecret, async ({ caller, key, body }) =>
    presentSecret(await usecases.secrets.update(caller, key, body)),
  )
  bind.empty(routes.deleteSecret, ({ caller, key }) => usecases.secrets.remove(caller, key))
}

function describe({ name, namespace, resourceVersion, createdAt, labels, annotations }: ConfigMap) {
  return {
    name,
    namespace,
    resourceVersion,
    creationTimestamp: createdAt,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  }
}

function presentItem(map: ConfigMap): configMapRoutes.ConfigMapItem {
  return { metadata: describe(map), keys: Object.keys(map.data) }
}

function answer(map: ConfigMap) {
  const json: configMapRoutes.ConfigMapObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: describe(map),
    data: map.data,
  }
  const tag = tagOfVersion(map.resourceVersion)
  return { json, tag, headers: { etag: tag } }
}

/** The body, with the version from If-Match. */
function withVersion(body: configMapRoutes.ConfigMapBody, ifMatch: string | undefined): configMapRoutes.ConfigMapBody {
  const resourceVersion = versionOfIfMatch(ifMatch) ?? body.metadata?.resourceVersion
  if (body.metadata?.resourceVersion !== undefined && body.metadata.resourceVersion !== resourceVersion) {
    throw new SvcError('Conflict', 'If-Match and metadata.resourceVersion of the config map differ')
  }
  return { ...body, metadata: { ...body.metadata, resourceVersion } }
}

export function bindConfigMaps(bind: Bind, { usecases }: RouteContext): void {
  const { configMaps } = usecases
  bind(configMapRoutes.listConfigMaps, async ({ caller, namespace, query }) => {
    const { labelSelector, search } = query
    const all = await configMaps.list(caller, { namespace: namedNamespace({ namespace }), labelSelector, search })
    return { json: wrapPage(pageOf(all, query), presentItem) }
  })
  bind(configMapRoutes.getConfigMap, async ({ caller, key }) => {
    return answer(await configMaps.get(caller, key))
  })
  bind(configMapRoutes.createConfigMap, async ({ caller, namespace, body }) => {
    return answer(await configMaps.create(caller, namespace, body))
  })
  bind(configMapRoutes.updateConfigMap, async ({ caller, key, headers, body }) => {
    return answer(await configMaps.replace(caller, key, withVersion(body, headers['if-match'])))
  })
  bind.empty(configMapRoutes.deleteConfigMap, ({ caller, key }) => configMaps.remove(caller, key))
}
