// Several processes on one PostgreSQL: what one does the others see, hear of, and do not undo.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock as clock, systemIds as ids } from '../../../src/lib/system-clock.ts'
import { sql } from '../../../src/store/database/statement.ts'
import { createSignInLinks } from '../../../src/store/identity/sign-in-links.ts'
import { createTokenAuthenticator } from '../../../src/store/identity/token-authenticator.ts'
import { createTokens } from '../../../src/store/identity/tokens.ts'
import type { PostgresDatabase } from '../../../src/store/postgres/database.ts'
import { createPostgresRecords } from '../../../src/store/postgres/records.ts'
import type { RecordStores } from '../../../src/store/records.ts'
import { makeDatabase, openBody, openReplica, prepareTemplate } from '../../contracts/postgres-bench.ts'
import { collect, MEBIBYTE, makeBody, readText, textBody } from '../../contracts/record-bench.ts'
import { type PostgresServer, postgresMissing, startPostgres } from '../../fixtures/postgres.ts'
import { waitFor } from '../../fixtures/time.ts'

type Replica = { database: PostgresDatabase; records: RecordStores }

describe.skipIf(postgresMissing !== undefined)('two replicas on one PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
    await prepareTemplate(server)
  }, 60_000)
  afterAll(() => server.remove(), 60_000)

  let name: string
  let one: Replica
  let other: Replica
  const open = async (): Promise<Replica> => {
    const database = await openReplica(server, name)
    return { database, records: createPostgresRecords({ database, clock, ids }) }
  }
  beforeEach(async () => {
    name = makeDatabase(server)
    one = await open()
    other = await open()
  })
  afterEach(async () => {
    await one.database.close()
    await other.database.close()
    server.execute('postgres', `drop database ${name} with (force)`)
  })

  const key = { taskUid: 'task-1', attempt: 1 }
  const draft = { ...key, namespace: 'default', taskName: 't', type: 'X', message: 'm' }
  const session = { namespace: 'default', name: 's' }
  const provider = { namespace: 'default', name: 'main' }
  const both = () => [one, other]
  const countBlobs = async () =>
    (await one.database.read.first(sql<{ count: number }>`select count(*) as count from blobs`))?.count

  it('lets one of two reviewers decide, and makes one memory of a proposal that both apply', async () => {
    const key = { namespace: 'default', id: 'p' }
    await one.records.memoryProposals.create({ ...key, type: 'memory', title: 'Reset', content: 'Staging is reset.' })
    const review = ({ records }: Replica, reviewer: string) =>
      records.memoryProposals.review(key, { status: 'accepted', reviewer, reviewedBy: { name: reviewer } })
    const decided = await Promise.allSettled([review(one, 'ada'), review(other, 'bob')])
    expect(decided.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const apply = ({ records }: Replica, memoryId: string) =>
      records.memoryProposals.apply(key, { memoryId, appliedBy: 'ada' })
    const made = await Promise.all([
      apply(one, 'mem-1'),
      apply(other, 'mem-2'),
      apply(one, 'mem-3'),
      apply(other, 'mem-4'),
    ])
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(await other.records.memories.list({ namespace: 'default', limit: 9 })).toHaveLength(1)
  })

  it('finds by vectors what the other replica has placed', async () => {
    const { memories, memoryVectors } = one.records
    const vector = Float32Array.from([0.6, 0.8])
    const find = async () => {
      const query = { namespace: 'default', query: 'ship', vector: { model: 'm#2', vector }, limit: 9 }
      return (await other.records.memories.list(query)).map(({ id }) => id)
    }
    await memories.create({ namespace: 'default', id: 'boat', content: 'a boat', source: 'manual', disabled: false })
    await memoryVectors.setModel('default', 'm#2')
    expect(await find()).toEqual([])
    const [waiting] = await memoryVectors.listPending(9)
    if (waiting === undefined) throw new Error('nothing waits')
    await memoryVectors.save([{ ...waiting, model: 'm#2', vector }])
    expect(await find()).toEqual(['boat'])
  })

  it('notifies a follower on another replica of events, log lines and cool-downs once they can be read', async () => {
    const heard: string[] = []
    other.records.events.onAppend('task-1', () => heard.push('event'))
    other.records.logs.onAppend('task-1', () => heard.push('log'))
    other.records.events.onAppend('task-2', () => heard.push('another task'))
    other.records.rateLimits.onCoolDown((key) => heard.push(`cool-down of ${key.name}`))
    await one.records.events.append(draft)
    await waitFor(() => heard.length === 1, 'the event is heard of')
    expect(await other.records.events.list({ taskUid: 'task-1' })).toHaveLength(1)
    await one.records.logs.append(key, ['a'])
    await one.records.rateLimits.coolDown(provider, {
      until: new Date(Date.now() + 60_000),
      reason: 'overloaded',
      ...({ failure: 'RateLimited', asked: true } as const),
    })
    await waitFor(() => heard.length === 3, 'all are heard of')
    expect(heard).toEqual(['event', 'log', 'cool-down of main'])
  })

  it('tells every replica which records have changed, and that some may have when it was cut off', async () => {
    const told: unknown[][] = [[], []]
    const ends = both().map(({ records }, at) => records.changes.subscribe((change) => told[at]?.push(change)))
    await one.records.sessions.ensure(session, { create: true, sessionType: 'chat' })
    for (const heard of told) {
      await waitFor(() => heard.length > 0)
      expect(heard).toEqual([{ kind: 'Session', namespace: 'default' }])
    }
    server.execute('postgres', `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
    for (const heard of told) await waitFor(() => heard.includes(undefined))
    for (const end of ends) end()
  })

  it('notifies its own followers once, not again when its notification comes back', async () => {
    let [own, foreign] = [0, 0]
    one.records.events.onAppend('task-1', () => {
      own += 1
    })
    other.records.events.onAppend('task-1', () => {
      foreign += 1
    })
    for (let count = 0; count < 5; count += 1) {
      await one.records.events.append({ ...draft, message: String(count) })
      expect(own).toBe(count + 1)
    }
    await waitFor(() => foreign === 5, 'the other replica heard all')
    expect(own).toBe(5)
  })

  it('sends no notification for what was rolled back', async () => {
    const heard: string[] = []
    other.database.listen('test', (note) => heard.push(note ?? 'look again'))
    const failed = one.database.write(async (tx) => {
      tx.announce('test', 'never')
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    await one.database.write(async (tx) => tx.announce('test', `an 'odd' \\ note \0 \ud800 ${'x'.repeat(20)}`))
    await one.database.write(async (tx) => tx.announce('test', 'y'.repeat(9000)))
    await waitFor(() => heard.length === 2, 'the second is heard')
    expect(heard).toEqual([`an 'odd' \\ note \0 \ud800 ${'x'.repeat(20)}`, 'look again'])
  })

  it('forgets a revoked token on every replica', async () => {
    const tokens = createTokens({ database: one.database, clock, ids })
    // For this one no time passes, so nothing but the note ends what it believes.
    const still = { ...clock, now: () => new Date(0) }
    const guard = createTokenAuthenticator({
      tokens: createTokens({ database: other.database, clock, ids }),
      clock: still,
    })
    const { record, token } = await tokens.create({ name: 't', role: 'editor', serverTools: true })
    await guard.authenticate({ token, source: 'bearer' })
    await tokens.revoke(record.id)
    const isRefused = () =>
      guard.authenticate({ token, source: 'bearer' }).then(
        () => false,
        () => true,
      )
    await waitFor(isRefused, 'the token is refused')
  })

  it('lets a sign-in link be used once on whichever replica, and ends its token on each', async () => {
    const of = ({ database }: { database: PostgresDatabase }) => ({ database, clock, ids })
    const tokens = createTokens(of(one))
    const { record: maker } = await tokens.create({ name: 'm', role: 'editor', serverTools: true })
    const later = new Date(clock.now().getTime() + 60_000)
    const token = { name: 'dashboard', role: 'editor', serverTools: true, expiresAt: later } as const
    const code = await createSignInLinks(of(one)).create({ caller: maker, token, expiresAt: later })
    const asked = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => createSignInLinks(of(index % 2 ? one : other)).exchange(code)),
    )
    const made = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.token] : []))
    expect(made).toHaveLength(1)
    const still = { ...clock, now: () => new Date(0) }
    const guard = createTokenAuthenticator({ tokens: createTokens(of(other)), clock: still })
    const enter = () => guard.authenticate({ token: made[0] ?? '', source: 'bearer' })
    expect((await enter()).uid).toBe(maker.id)
    await tokens.revoke(maker.id)
    await waitFor(
      () =>
        enter().then(
          () => false,
          () => true,
        ),
      'the token is refused',
    )
  })

  it('leaves no token of a link that is used while its maker is revoked', async () => {
    const of = ({ database }: { database: PostgresDatabase }) => ({ database, clock, ids })
    const tokens = createTokens(of(one))
    const later = new Date(clock.now().getTime() + 60_000)
    const token = { name: 'dashboard', role: 'editor', serverTools: true, expiresAt: later } as const
    for (let round = 0; round < 20; round += 1) {
      const { record: maker } = await tokens.create({ name: 'm', role: 'editor', serverTools: true })
      const code = await createSignInLinks(of(one)).create({ caller: maker, token, expiresAt: later })
      await Promise.allSettled([createSignInLinks(of(other)).exchange(code), tokens.revoke(maker.id)])
      expect((await tokens.list()).filter(({ signInOf }) => signInOf?.id === maker.id)).toEqual([])
    }
  })

  it('lets exactly one of many replicas lock a session', async () => {
    await one.records.sessions.ensure(session, { create: true, sessionType: 'chat' })
    const asked = Array.from({ length: 20 }, (_, index) =>
      both()[index % 2]?.records.sessions.lock(session, `h${index}`),
    )
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1)
  })

  it('grants no more leases than a provider has when replicas take them together [PROV-009]', async () => {
    const limit = { requestsPerMinute: 7, tokensPerMinute: 1_000 }
    const take = (index: number) =>
      both()[index % 2]?.records.rateLimits.take(provider, { requests: 1, tokens: 1 }, limit)
    const leases = await Promise.all(Array.from({ length: 40 }, (_, index) => take(index)))
    expect(leases.filter((lease) => lease?.granted)).toHaveLength(7)
  })

  it('merges what replicas observed of a provider, and notifies both of a change [PROV-011]', async () => {
    const heard: string[] = []
    one.records.providerHealth.onChange(({ name }) => heard.push(`one: ${name}`))
    other.records.providerHealth.onChange(({ name }) => heard.push(`other: ${name}`))
    const failed = { at: new Date(2000), reason: 'HTTP 401' }
    await one.records.providerHealth.note([{ provider, goodAt: new Date(1000), failures: 0 }])
    await other.records.providerHealth.note([{ provider, failed, failures: 2 }])
    expect(await one.records.providerHealth.read(provider)).toEqual({ goodAt: new Date(1000), failed, failures: 2 })
    await waitFor(() => heard.length === 4, 'both heard of both')
    expect(heard.toSorted()).toEqual(['one: main', 'one: main', 'other: main', 'other: main'])
    const notes = ['a', 'b', 'c'].map((name) => ({ provider: { ...provider, name }, failed, failures: 1 }))
    const writes = Array.from({ length: 20 }, (_, index) =>
      both()[index % 2]?.records.providerHealth.note(index % 3 === 0 ? notes.toReversed() : notes),
    )
    await Promise.all(writes)
    for (const note of notes) {
      expect((await other.records.providerHealth.read(note.provider))?.failures).toBe(20)
    }
  })

  it('gives an idempotency key to one replica, and its outcome to the other', async () => {
    const times = { now: new Date(), ttlMs: 60_000, staleMs: 30_000 }
    const claims = await Promise.all(both().map(({ records }) => records.idempotency.claim('key', 'body', times)))
    expect(claims.map(({ state }) => state).sort()).toEqual(['claimed', 'running'])
    await one.records.idempotency.settle('key', { status: 201, kind: 'Task', namespace: 'default', name: 't' })
    expect(await other.records.idempotency.claim('key', 'body', times)).toMatchObject({ state: 'settled' })
  })

  it('notifies a follower on another replica of a line while it is written', async () => {
    let heard = 0
    other.records.logs.onAppend('task-1', () => {
      heard += 1
    })
    await one.records.logs.append(key, ['whole'], 'half a')
    await waitFor(() => heard === 1, 'the line is heard of')
    expect(await other.records.logs.unfinished('task-1')).toEqual({ attempt: 1, text: 'half a' })
    await one.records.logs.append(key, [], 'half a line')
    await waitFor(() => heard === 2, 'its growth is heard of')
    expect(await other.records.logs.unfinished('task-1')).toEqual({ attempt: 1, text: 'half a line' })
    await Promise.all(both().map(({ records }) => records.logs.finishLine(key)))
    const lines = await collect(other.records.logs.read('task-1', {}))
    expect(lines.map(({ text }) => text)).toEqual(['whole', 'half a line'])
  })

  it('numbers events and log lines of one task without gaps when both write', async () => {
    const writes = Array.from({ length: 30 }, async (_, index) => {
      const { events, logs } = both()[index % 2]?.records ?? one.records
      await events.append({ ...draft, message: String(index) })
      await logs.append(key, [`${index} a`, `${index} b`])
    })
    await Promise.all(writes)
    const numbers = (await other.records.events.list({ taskUid: 'task-1' })).map(({ seq }) => seq)
    expect(numbers).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
    const lines = await collect(other.records.logs.read('task-1', {}))
    expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
    expect(
      lines.filter(({ text }, index) => index % 2 === 1 && text !== lines[index - 1]?.text.replace('a', 'b')),
    ).toEqual([])
  })

  it('keeps one result and one body when two replicas store it at the same time', async () => {
    const put = (index: number) =>
      both()[index % 2]?.records.results.put(key, makeBody(MEBIBYTE, 0x30 + index).body, 'text/plain')
    await Promise.all(Array.from({ length: 6 }, (_, index) => put(index)))
    const text = (await readText(await other.records.results.get('task-1'))) ?? ''
    expect([text.length, new Set(text).size]).toEqual([MEBIBYTE, 1])
    await one.records.sweepOrphans()
    expect(await countBlobs()).toBe(1)
  })

  it('does not sweep a body that another replica reads or receives [TASK-063]', async () => {
    await one.records.results.put(key, makeBody(2 * MEBIBYTE, 0x31).body, 'text/plain')
    const reading = (await other.records.results.get('task-1'))?.open()
    const first = await new Promise<Buffer>((resolve) => reading?.once('data', (chunk: Buffer) => resolve(chunk)))
    reading?.pause()
    await one.records.results.put(key, makeBody(2 * MEBIBYTE, 0x32).body, 'text/plain')
    expect(await one.records.sweepOrphans()).toBe(0)
    const rest = await readText(reading === undefined ? undefined : { open: () => reading })
    expect(first.toString() + rest).toBe('1'.repeat(2 * MEBIBYTE))
    await waitFor(async () => (await one.records.sweepOrphans()) === 1, 'the body that nobody reads any more is swept')
    expect(await countBlobs()).toBe(1)
  })

  it('sweeps a body that a dead replica was receiving, but not before that replica is dead', async () => {
    const { body, push } = openBody()
    const stored = other.records.results.put(key, body, 'text/plain').catch(() => undefined)
    push(MEBIBYTE)
    await waitFor(async () => (await countBlobs()) === 1, 'the body has begun')
    expect(await one.records.sweepOrphans()).toBe(0)
    await other.database.close()
    expect(await one.records.sweepOrphans()).toBe(1)
    push(MEBIBYTE)
    body.destroy()
    await stored
    other = await open()
  })

  it('removes each old session once when replicas sweep together', async () => {
    for (let count = 0; count < 30; count += 1) {
      await one.records.sessions.ensure(
        { namespace: 'default', name: `s${count}` },
        { create: true, sessionType: 'chat' },
      )
    }
    const later = new Date(Date.now() + 1000)
    const removed = await Promise.all(both().map(({ records }) => records.sessions.sweep(later)))
    expect(removed[0] ?? 0).toBe(30 - (removed[1] ?? 0))
    expect((await one.records.sessions.list({ limit: 10 })).items).toEqual([])
  })

  it('continues a list on a replica that did not begin it [HTTP-021]', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `s${index}`)
    for (const name of names) {
      await one.records.sessions.ensure({ namespace: 'default', name }, { create: true, sessionType: 'chat' })
    }
    const first = await one.records.sessions.list({ limit: 4 })
    const second = await other.records.sessions.list({ limit: 4, continue: first.continue ?? '' })
    expect([...first.items, ...second.items].map(({ name }) => name).sort()).toEqual(names)
  })

  it('reads on every replica what one of them wrote, results and artifacts with their bytes [MODE-010]', async () => {
    await one.records.results.put(key, makeBody(MEBIBYTE).body, 'text/plain')
    await one.records.artifacts.put(key, { filename: 'f', contentType: 'x/y', body: textBody('small') })
    await one.records.checkpoints.save(key, 'state')
    expect((await readText(await other.records.results.get('task-1')))?.length).toBe(MEBIBYTE)
    expect(await readText(await other.records.artifacts.open('task-1', 'f'))).toBe('small')
    expect(await other.records.artifacts.open('task-1', 'a\0b')).toBeUndefined()
    expect((await other.records.checkpoints.load('task-1'))?.state).toBe('state')
  })
})
