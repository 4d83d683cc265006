// Leadership by a Lease on a real API server: never two at once, whatever breaks.
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { collections } from '../../src/cluster/api/paths.ts'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import type { LeaseObject } from '../../src/cluster/leadership/lease.ts'
import { createKubernetesLeadership } from '../../src/cluster/leadership.ts'
import { systemClock as clock, systemIds as ids } from '../../src/lib/system-clock.ts'
import type { Leadership } from '../../src/ports/service/leadership.ts'
import { describeOnCluster, dropNamespace, makeNamespace, openClusterApi, openProxiedApi } from '../fixtures/cluster.ts'
import type { TcpProxy } from '../fixtures/tcp-proxy.ts'

const never = new AbortController().signal

type Stage = { who: string; what: 'leads' | 'stops'; at: number }

describeOnCluster('leadership by a Lease', () => {
  let api: KubernetesApi
  let namespace: string
  let name: string
  let opened: (() => Promise<unknown>)[]
  let round = 0

  beforeAll(async () => {
    api = await openClusterApi()
    namespace = await makeNamespace(api, 'res-lease')
  })
  afterAll(async () => {
    await dropNamespace(api, namespace)
    await api.close()
  })
  beforeEach(() => {
    round += 1
    name = `leader-${round}`
    opened = []
  })
  afterEach(async () => {
    for (const close of opened.reverse()) await close()
  })

  const contend = (identity: string, over = api, elapsed = () => performance.now()) => {
    const leadership = createKubernetesLeadership({ api: over, clock, ids, name, namespace, identity, elapsed })
    opened.push(() => leadership.release())
    return leadership
  }
  const openProxied = async () => {
    const proxied = await openProxiedApi()
    opened.push(async () => {
      await proxied.api.close()
      await proxied.proxy.stop()
    })
    return proxied
  }
  const readLease = () => api.request<LeaseObject>({ verb: 'get', collection: collections.leases, namespace, name })
  const aborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })

  it('is taken by the first replica, which the Lease names, and held for as long as it runs [MODE-009]', async () => {
    const first = contend('pod-a')
    const term = await first.acquire(never)
    const lease = await readLease()
    expect(lease.spec.holderIdentity).toMatch(/^pod-a_[0-9a-f]{8}$/)
    expect(lease.spec).toMatchObject({ leaseDurationSeconds: 6, leaseTransitions: 0 })
    await expect.poll(async () => (await readLease()).spec.renewTime).not.toBe(lease.spec.renewTime)
    expect(term.aborted).toBe(false)
    expect(await first.acquire(never)).toBe(term)
  })

  it('is over for a leader that was suspended from its first step on, before a timer of it has fired', async () => {
    let suspendedMs = 0
    const leader = contend('pod-a', api, () => performance.now() + suspendedMs)
    expect(leader.requireTerm).toThrow('does not lead any more')
    const term = await leader.acquire(never)
    leader.requireTerm()
    suspendedMs = 5000
    expect(leader.requireTerm).toThrow('does not lead any more')
    expect(term.aborted).toBe(false)
  })

  it('is taken over at once when it is released', async () => {
    const first = contend('pod-a')
    const second = contend('pod-b')
    const term = await first.acquire(never)
    const waiting = second.acquire(never)
    await clock.sleep(300)
    const releasedAt = performance.now()
    await first.release()
    expect(term.aborted).toBe(true)
    expect((await waiting).aborted).toBe(false)
    // Sooner than a Lease that nobody has released.
    expect(performance.now() - releasedAt).toBeLessThan(6000)
    expect((await readLease()).spec).toMatchObject({
      leaseTransitions: 1,
      holderIdentity: expect.stringMatching('pod-b'),
    })
  })

  it('is taken over within ten seconds when the leader dies without releasing it', async () => {
    const { api: dying, proxy } = await openProxied()
    await contend('pod-a', dying).acquire(never)
    const waiting = contend('pod-b').acquire(never)
    await clock.sleep(300)
    const diedAt = performance.now()
    await proxy.stop()
    await waiting
    expect(performance.now() - diedAt).toBeLessThan(10_000)
    await proxy.start()
  })

  it.each(['is cut off', 'hears nothing any more'])(
    'ends for a leader that %s before another one leads',
    async (how) => {
      const { api: cutOff, proxy } = await openProxied()
      const stages: Stage[] = []
      const note = (who: string, what: Stage['what']) => stages.push({ who, what, at: performance.now() })
      const term = await contend('pod-a', cutOff).acquire(never)
      const ended = aborted(term).then(() => note('pod-a', 'stops'))
      const waiting = contend('pod-b')
        .acquire(never)
        .then(() => note('pod-b', 'leads'))
      await clock.sleep(300)
      if (how === 'is cut off') await proxy.stop()
      else proxy.freeze()
      await Promise.all([ended, waiting])
      expect(stages.map(({ who, what }) => `${who} ${what}`)).toEqual(['pod-a stops', 'pod-b leads'])
      if (how === 'is cut off') await proxy.start()
      else proxy.thaw()
    },
  )

  it('is held by one of several replicas at a time, through releases and broken connections', async () => {
    const turns: string[] = []
    const leading = new Set<string>()
    const overlaps: string[][] = []
    const stop = new AbortController()
    const enter = (identity: string, term: AbortSignal) => {
      leading.add(identity)
      turns.push(identity)
      if (leading.size > 1) overlaps.push([...leading])
      term.addEventListener('abort', () => leading.delete(identity), { once: true })
    }
    /** Leads for a moment; every third time the connection breaks meanwhile. */
    const takeTurn = async (leadership: Leadership, identity: string, proxy: TcpProxy) => {
      const term = await leadership.acquire(stop.signal)
      enter(identity, term)
      await clock.sleep(100)
      if (turns.length % 3 === 0) proxy.cut()
      await clock.sleep(100)
      await leadership.release()
    }
    const contender = async (identity: string) => {
      const { api: own, proxy } = await openProxied()
      const leadership = contend(identity, own)
      while (!stop.signal.aborted) {
        await takeTurn(leadership, identity, proxy).catch((error: unknown) => expect(error).toBe(stop.signal.reason))
      }
    }
    const contenders = ['pod-a', 'pod-b', 'pod-c'].map(contender)
    await expect.poll(() => turns.length, { timeout: 60_000 }).toBeGreaterThan(12)
    stop.abort()
    await Promise.all(contenders)
    expect(overlaps).toEqual([])
    expect(new Set(turns).size).toBeGreaterThan(1)
  })

  it('is lost when somebody writes another holder into the Lease, and regained when that holder is gone', async () => {
    const first = contend('pod-a')
    const term = await first.acquire(never)
    const body = { spec: { holderIdentity: 'intruder', leaseDurationSeconds: 1 } }
    await api.request({ verb: 'patch', patch: 'merge', collection: collections.leases, namespace, name, body })
    await aborted(term)
    expect((await first.acquire(never)).aborted).toBe(false)
  })

  it('is not lost when somebody labels the Lease', async () => {
    const term = await contend('pod-a').acquire(never)
    const body = { metadata: { labels: { seen: 'yes' } } }
    await api.request({ verb: 'patch', patch: 'merge', collection: collections.leases, namespace, name, body })
    const { renewTime } = (await readLease()).spec
    await expect.poll(async () => (await readLease()).spec.renewTime).not.toBe(renewTime)
    expect(term.aborted).toBe(false)
    expect((await readLease()).metadata.labels).toEqual({ seen: 'yes' })
  })

  it('is waited for until the signal aborts', async () => {
    await contend('pod-a').acquire(never)
    const stop = new AbortController()
    const waiting = contend('pod-b').acquire(stop.signal)
    stop.abort(new Error('no more'))
    await expect(waiting).rejects.toThrow('no more')
  })
})
