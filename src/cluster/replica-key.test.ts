import { describe, expect, it } from 'vitest'
import { SvcError } from '../errors.ts'
import type { ApiRequest, KubernetesApi } from './api.ts'
import { ensureReplicaKey } from './replica-key.ts'

type Secret = { data: Record<string, string> }

/** The API server as far as one Secret goes; `rival` is what another replica writes just before us. */
function openCluster(start?: Secret, rival?: Secret) {
  let stored = start
  const request = async ({ verb, body }: ApiRequest) => {
    if (verb === 'create') {
      stored ??= rival
      if (stored !== undefined) throw new SvcError('AlreadyExists', 'it is there')
      stored = body as Secret
    }
    if (stored === undefined) throw new SvcError('NotFound', 'it is not there')
    return stored
  }
  return { request } as Pick<KubernetesApi, 'request'> as KubernetesApi
}

const ensure = (api: KubernetesApi) => ensureReplicaKey({ api, namespace: 'svc-system', name: 'key' })
const keyOf = (byte: number) => Buffer.alloc(32, byte)
const holding = (byte: number): Secret => ({ data: { key: keyOf(byte).toString('base64') } })

describe('the key of all replicas', () => {
  it('is made by the first replica and read by the later ones', async () => {
    const api = openCluster()
    const key = await ensure(api)
    expect(key).toHaveLength(32)
    expect(await ensure(api)).toEqual(key)
  })

  it('is the one in the cluster when another replica was faster', async () => {
    expect(await ensure(openCluster(undefined, holding(7)))).toEqual(keyOf(7))
  })

  it('is not read from a Secret that somebody else made', async () => {
    await expect(ensure(openCluster({ data: { key: 'c2hvcnQ=' } }))).rejects.toThrow('contains no key of the service')
  })
})
