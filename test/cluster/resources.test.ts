// The resource store on a real API server: the suite that every store runs, unchanged.
import { afterAll, beforeAll, describe } from 'vitest'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { createKubernetesResources, type KubernetesResources } from '../../src/cluster/resources.ts'
import { openServedResources } from '../../src/cluster/served-resources.ts'
import { systemClock as clock, systemIds as ids } from '../../src/lib/system-clock.ts'
import { describeResources } from '../contracts/resources.contract.ts'
import { describeResourceLists } from '../contracts/resources-lists.contract.ts'
import { describeResourceTexts } from '../contracts/resources-texts.contract.ts'
import { describeResourceWatches } from '../contracts/resources-watches.contract.ts'
import {
  clearNamespace,
  describeOnCluster,
  dropNamespace,
  installDefinitions,
  makeNamespace,
  openClusterApi,
} from '../fixtures/cluster.ts'

describeOnCluster('on a cluster', () => {
  let api: KubernetesApi
  let resources: KubernetesResources
  let served: KubernetesResources
  let namespaces: [string, string]

  beforeAll(async () => {
    api = await openClusterApi()
    await installDefinitions(api)
    namespaces = [await makeNamespace(api, 'res-a'), await makeNamespace(api, 'res-b')]
    resources = await createKubernetesResources({ api, clock, ids })
    served = await openServedResources({ api, clock, ids, namespaces })
  })
  afterAll(async () => {
    await Promise.all([resources.close(), served.close()])
    for (const namespace of namespaces) await dropNamespace(api, namespace)
    await api.close()
  })

  const close = async () => {
    for (const namespace of namespaces) await clearNamespace(api, namespace)
  }

  // One connection serves all tests, as it serves a service; each finds its namespaces empty.
  describeResources('the Kubernetes API', async () => ({ resources, namespaces, close }))
  describe('resources in some namespaces of it', () => {
    const open = async () => ({ resources: served, namespaces, close })
    describeResourceLists(open)
    describeResourceTexts(open)
    describeResourceWatches(open)
  })
})
