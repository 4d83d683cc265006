// Config maps, in the form that kubectl writes.
import * as routes from '../../../contract/api/resources/configmaps.ts'
import { SvcError } from '../../../errors.ts'
import type { ConfigMap } from '../../../ports/resources/configmaps.ts'
import type { Bind } from '../../bind.ts'
import { tagOfVersion, versionOfIfMatch } from '../../middleware/conditional.ts'
import { namedNamespace, pageOf, wrapPage } from '../../paging.ts'
import type { RouteContext } from '../../route-context.ts'

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

function presentItem(map: ConfigMap): routes.ConfigMapItem {
  return { metadata: describe(map), keys: Object.keys(map.data) }
}

function answer(map: ConfigMap) {
  const json: routes.ConfigMapObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: describe(map),
    data: map.data,
  }
  const tag = tagOfVersion(map.resourceVersion)
  return { json, tag, headers: { etag: tag } }
}

/** The body, with the version from If-Match. */
function withVersion(body: routes.ConfigMapBody, ifMatch: string | undefined): routes.ConfigMapBody {
  const resourceVersion = versionOfIfMatch(ifMatch) ?? body.metadata?.resourceVersion
  if (body.metadata?.resourceVersion !== undefined && body.metadata.resourceVersion !== resourceVersion) {
    throw new SvcError('Conflict', 'If-Match and metadata.resourceVersion of the config map differ')
  }
  return { ...body, metadata: { ...body.metadata, resourceVersion } }
}

export function bindConfigMaps(bind: Bind, { usecases }: RouteContext): void {
  const { configMaps } = usecases
  bind(routes.listConfigMaps, async ({ caller, namespace, query }) => {
    const { labelSelector, search } = query
    const all = await configMaps.list(caller, { namespace: namedNamespace({ namespace }), labelSelector, search })
    return { json: wrapPage(pageOf(all, query), presentItem) }
  })
  bind(routes.getConfigMap, async ({ caller, namespace, params }) => {
    return answer(await configMaps.get(caller, { namespace, name: params.name }))
  })
  bind(routes.createConfigMap, async ({ caller, namespace, body }) => {
    return answer(await configMaps.create(caller, namespace, body))
  })
  bind(routes.updateConfigMap, async ({ caller, namespace, params, headers, body }) => {
    const key = { namespace, name: params.name }
    return answer(await configMaps.replace(caller, key, withVersion(body, headers['if-match'])))
  })
  bind(routes.deleteConfigMap, async ({ caller, namespace, params }) => {
    await configMaps.remove(caller, { namespace, name: params.name })
    return { empty: true }
  })
}
