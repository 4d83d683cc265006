import { describe, expect, it } from 'vitest'
import { resolveReach } from './reach.ts'

const find = async (name: string) =>
  name === 'gone.example' ? [] : [{ address: name.startsWith('v6') ? 'fd00::7' : '10.96.0.7' }]

describe('where pods without DNS find the service', () => {
  it('is its name in their hosts file, and its pods in their policy', async () => {
    const urls = ['http://svc.svc-system.svc:8080', 'http://svc.svc-system.svc:8082']
    const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'svc-system' } }
    expect(await resolveReach(urls, find)).toEqual({
      hostAliases: [{ ip: '10.96.0.7', hostnames: ['svc.svc-system.svc'] }],
      egress: [8080, 8082].map((port) => ({ to: [{ namespaceSelector }], ports: [{ protocol: 'TCP', port }] })),
    })
  })

  it('is an address where the service is not on the cluster, or has no name', async () => {
    const { hostAliases, egress } = await resolveReach(
      ['https://v6.example', 'http://[fd00::8]:81', 'http://10.1.2.3'],
      find,
    )
    expect(hostAliases).toEqual([{ ip: 'fd00::7', hostnames: ['v6.example'] }])
    const block = (cidr: string, port: number) => ({ to: [{ ipBlock: { cidr } }], ports: [{ protocol: 'TCP', port }] })
    expect(egress).toEqual([block('fd00::7/128', 443), block('fd00::8/128', 81), block('10.1.2.3/32', 80)])
  })

  it('is not known as long as the name has no address', async () => {
    await expect(resolveReach(['http://gone.example'], find)).rejects.toMatchObject({ reason: 'Unavailable' })
    const failing = () => Promise.reject(new Error('no answer'))
    await expect(resolveReach(['http://a.b.svc'], failing)).rejects.toMatchObject({ reason: 'Unavailable' })
  })
})
