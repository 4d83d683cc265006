import { describe, expect, it } from 'vitest'
import { pause } from '../../test/fixtures/time.ts'
import { isDenied } from '../egress/destination.ts'
import { createOwnAddresses, followNames } from './addresses.ts'

describe('the addresses of the service that tools may not dial', () => {
  it('include where it listens, its metrics, its Service and every replica, by name and by address [NET-003]', async () => {
    const records: Record<string, string[]> = { svc: ['10.96.0.7'], 'svc-metrics': ['10.1.0.4', '10.1.0.5'] }
    const find = async (name: string) => {
      const addresses = records[name]
      if (addresses === undefined) throw new Error('no such name')
      return addresses.map((address) => ({ address }))
    }
    const followed = followNames(['svc', 'svc-metrics', 'unknown'], { find, intervalMs: 5 })
    const metrics = { host: '0.0.0.0', port: 8081 }
    const list = createOwnAddresses(
      { host: '0.0.0.0', port: 8080, workerPort: 9000 },
      { hosts: followed.hosts, servicePort: 80, gatePort: 8082, metrics },
    )
    const denies = (host: string, port: number) => isDenied(host, port, { deny: list(), ownAddresses: ['10.1.0.9'] })
    await expect.poll(() => denies('10.1.0.5', 8081)).toBe(true)
    const ownAddresses: [string, number][] = [
      ...[8080, 8081, 8082, 9000].flatMap((port): [string, number][] => [
        ['127.0.0.1', port],
        ['::1', port],
        ['10.1.0.9', port],
      ]),
      ...['svc', 'svc-metrics', '10.96.0.7', '10.1.0.4', '10.1.0.5'].flatMap((host) =>
        [80, 8080, 8081, 8082].map((port): [string, number] => [host, port]),
      ),
    ]
    expect(ownAddresses.filter(([host, port]) => !denies(host, port))).toEqual([])
    expect(denies('10.1.0.6', 8080) || denies('10.1.0.4', 443) || denies('127.0.0.1', 3000)).toBe(false)
    records['svc-metrics'] = ['10.1.0.4', '10.1.0.6']
    await expect.poll(() => denies('10.1.0.6', 8080)).toBe(true)
    expect(denies('10.1.0.5', 8080)).toBe(false)
    delete records['svc-metrics']
    await pause(20)
    expect(denies('10.1.0.6', 8080)).toBe(true)
    followed.close()
  })
})
