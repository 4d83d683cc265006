// What every store of durable memories does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isSvcError } from '../../src/errors.ts'
import type { MemoryDraft, MemoryQuery } from '../../src/ports/memory/memories.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await work.catch((thrown: unknown) => thrown)
  return isSvcError(error) ? error.reason : `no error but ${JSON.stringify(error)}`
}

export function describeMemories(name: string, open: OpenBench): void {
  describe(`memories on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const memories = () => bench().stores().memories
    const namespace = 'default'
    const keyOf = (id: string) => ({ namespace, id })
    const write = (id: string, content: string, more: Partial<MemoryDraft> = {}) =>
      memories().create({ id, namespace, source: 'manual', content, disabled: false, ...more })
    const list = async (query: Partial<MemoryQuery> = {}) =>
      (await memories().list({ namespace, limit: 50, ...query })).map(({ id }) => id)
    const recall = (query: string, reader: string, limit = 5) => memories().recall({ namespace, query, reader, limit })

    it('keeps every text over a restart', async () => {
      const made = await Promise.all(
        hardTexts.map((text, at) =>
          write(`mem-${at}`, `fact ${text}`, { agentName: text, taskName: text, source: text, tags: [text] }),
        ),
      )
      await bench().reopen()
      for (const memory of made) expect(await memories().get(keyOf(memory.id))).toEqual(memory)
      for (const [at, text] of hardTexts.entries()) {
        expect(await list({ agentName: text })).toEqual([`mem-${at}`])
        expect(await list({ tags: [text] })).toEqual([`mem-${at}`])
      }
      expect(await list({ query: 'fact' })).toHaveLength(hardTexts.length)
      expect(await memories().get({ namespace: 'other', id: 'mem-0' })).toBeUndefined()
    })

    it('refuses a taken id, but not in another namespace', async () => {
      await write('one', 'a')
      expect(await reasonOf(write('one', 'b'))).toBe('AlreadyExists')
      expect((await write('one', 'c', { namespace: 'other' })).content).toBe('c')
      expect((await memories().get(keyOf('one')))?.content).toBe('a')
    })

    it('lists the last changed first', async () => {
      for (const id of ['a', 'b', 'c']) await write(id, id)
      bench().advance(1000)
      await memories().change(keyOf('a'), { content: 'changed' })
      expect(await list()).toEqual(['a', 'c', 'b'])
      expect(await list({ limit: 2 })).toEqual(['a', 'c'])
    })

    it('filters by all that is given', async () => {
      const origin = { sessionName: 's', agentName: 'a', taskName: 't', parentTask: 'p', source: 'x', tags: ['k', 'l'] }
      await write('whole', 'fact', origin)
      for (const field of Object.keys(origin))
        await write(`no-${field}`, `fact without ${field}`, {
          ...origin,
          [field]: field === 'source' ? 'y' : undefined,
        })
      const { tags, ...words } = origin
      for (const [field, value] of Object.entries(words)) {
        expect(await list({ [field]: value })).not.toContain(`no-${field}`)
        expect(await list({ [field]: value })).toHaveLength(6)
      }
      expect(await list(origin)).toEqual(['whole'])
      expect(await list({ ...words, tags: [...tags, 'm'] })).toEqual([])
      expect(await list({ query: 'facts', ids: ['whole', 'no-tags'] })).toHaveLength(2)
      expect(await list({ ...origin, query: 'facts' })).toEqual(['whole'])
      expect(await list({ ids: [] })).toEqual([])
      expect(await list({ namespace: 'other' })).toEqual([])
    })

    it('shows those that are disabled or deleted only to those who ask', async () => {
      for (const id of ['kept', 'off', 'gone']) await write(id, `fact ${id}`)
      expect(await memories().setDisabled(keyOf('off'), true)).toBe(true)
      expect(await memories().change(keyOf('gone'), { deleted: true })).toMatchObject({ disabled: true, deleted: true })
      for (const query of [undefined, 'fact']) {
        expect((await list({ query })).sort()).toEqual(['kept'])
        expect((await list({ query, includeDisabled: true })).sort()).toEqual(['kept', 'off'])
        expect((await list({ query, includeDeleted: true })).sort()).toEqual(['gone', 'kept'])
        const all = { query, includeDisabled: true, includeDeleted: true }
        expect((await list(all)).sort()).toEqual(['gone', 'kept', 'off'])
      }
      expect((await recall('fact', 'r')).map(({ id }) => id)).toEqual(['kept'])
      expect(await memories().setDisabled(keyOf('off'), false)).toBe(true)
      expect((await list()).sort()).toEqual(['kept', 'off'])
      for (const id of ['gone', 'unknown']) expect(await memories().setDisabled(keyOf(id), false)).toBe(false)
      expect(await memories().change(keyOf('unknown'), { content: 'x' })).toBeUndefined()
    })

    it('ranks by how rare and how frequent the words are [MEM-020]', async () => {
      for (let at = 0; at < 20; at += 1) await write(`common-${at}`, `the server of team ${at} restarts at night`)
      await write('long', `certificate and ${'many other words about servers and their nights '.repeat(20)}`)
      await write('short', 'the server certificate is renewed at night')
      expect((await list({ query: 'server certificates' })).slice(0, 2)).toEqual(['short', 'long'])
      expect(await list({ query: 'certificate' })).toEqual(['short', 'long'])
    })

    it('lets a later day and use decide between equal matches [MEM-020]', async () => {
      await write('old', 'the build needs four minutes')
      bench().advance(86_400_000)
      await write('unused', 'the build needs five minutes')
      await write('used', 'the build needs nine minutes')
      await memories().recall({ namespace, ids: ['used'], query: 'build', reader: 'r', limit: 1 })
      expect(await list({ query: 'build' })).toEqual(['used', 'unused', 'old'])
    })

    it.each([
      ['migrations', 'a database migration failed'],
      ['parse_query', 'parseQuery throws on blanks'],
      ['memory-rows', 'see src/store/memory/memory-rows.ts'],
      ['東京', '会議は東京で行う'],
      ['RESUME', 'the résumé is in the wiki'],
      ['10.0.0.7', 'the gateway is at 10.0.0.7:8443 today'],
      ['2.4.0', 'tag v2.4.0 is broken'],
      ['1.25.3', 'the image is nginx:1.25.3-alpine'],
      ['ada.lovelace@example.com', 'ask ada.lovelace@example.com first'],
    ])('finds by %s: %s', async (query, content) => {
      await write('found', content)
      await write('other', 'nothing of the sort')
      expect(await list({ query })).toEqual(['found'])
    })

    it('finds by tags, and by new words after a change', async () => {
      await write('one', 'a fact', { tags: ['staging'] })
      expect(await list({ query: 'staging' })).toEqual(['one'])
      await memories().change(keyOf('one'), { content: 'another thing', tags: ['production'] })
      for (const query of ['staging', 'fact']) expect(await list({ query })).toEqual([])
      expect(await list({ query: 'things' })).toEqual(['one'])
      expect(await list({ tags: ['staging'] })).toEqual([])
      expect(await list({ tags: ['production'] })).toEqual(['one'])
    })

    it.each([
      '"',
      'a" OR b',
      'NEAR(a b)',
      '* AND (',
      'terms:x',
      "'; drop table memories --",
      '\0',
      '\ud800',
      '🚀',
      '-',
    ])('takes the query %j as text', async (query) => {
      await write('one', 'a fact')
      expect(await list({ query: `${query} fact` })).toEqual(['one'])
      expect(['one', undefined]).toContain((await list({ query }))[0])
    })

    it('finds the few of a namespace among many others that match better', async () => {
      for (let at = 0; at < 300; at += 1) await write(`loud-${at}`, 'alarm alarm alarm', { namespace: 'loud' })
      await write('quiet', 'one alarm among many words of another kind')
      expect(await list({ query: 'alarm' })).toEqual(['quiet'])
    })

    it('finds by rare words and by those of thousands together, and by the latter alone', async () => {
      for (let from = 0; from < 2500; from += 100)
        await Promise.all(
          Array.from({ length: 100 }, (_, at) => write(`many-${from + at}`, `deploy step ${from + at}`)),
        )
      await write('rare', 'zebra in a text of some more words')
      await write('both', 'zebra in a text of deploy words')
      expect(await list({ query: 'deploy zebra', limit: 2 })).toEqual(['both', 'rare'])
      expect(await list({ query: 'deploy zebra', limit: 50 })).toHaveLength(50)
      expect(await list({ query: 'deploy', limit: 50 })).toHaveLength(50)
    })

    it('counts a recall once for each reader [MEM-022]', async () => {
      await write('one', 'the port is 8080')
      expect(await recall('port', 'task-1')).toMatchObject([
        { recalledCount: 1, lastRecalledAt: bench().now().toISOString() },
      ])
      const first = await memories().get(keyOf('one'))
      bench().advance(1000)
      expect(await recall('port', 'task-1')).toEqual([first])
      await Promise.all(['task-2', 'task-3', 'task-3'].map((reader) => recall('port', reader)))
      expect(await memories().get(keyOf('one'))).toMatchObject({ recalledCount: 3, updatedAt: first?.updatedAt })
      await list({ query: 'port' })
      expect(await memories().get(keyOf('one'))).toMatchObject({ recalledCount: 3 })
      await memories().removeTask('task-1')
      expect(await recall('port', 'task-1')).toMatchObject([{ recalledCount: 4 }])
    })

    it('recalls no text twice', async () => {
      await write('one', 'the port is 8080')
      await write('two', 'the port is 8080')
      await write('three', 'another port is 9090')
      expect(await recall('port', 'r', 2)).toHaveLength(2)
      expect(new Set((await recall('port', 'r', 2)).map(({ content }) => content)).size).toBe(2)
    })

    it('finds no text twice, and lists all', async () => {
      for (const id of ['one', 'two']) await write(id, 'the port is 8080')
      await write('three', 'The port  is 8080')
      await write('four', 'the port is 9090')
      expect(await list({ query: 'port' })).toHaveLength(2)
      expect(await list({ query: 'port', limit: 2 })).toHaveLength(2)
      expect(await list()).toHaveLength(4)
    })

    it('recalls only what is accepted, and counts nothing else', async () => {
      for (let at = 0; at < 8; at += 1) await write(`m${at}`, `port ${at}`)
      const query = { namespace, query: 'port', reader: 'r', limit: 2 }
      const found = await memories().recall({ ...query, accept: ({ id }) => id === 'm1' || id === 'm6' })
      expect(found.map(({ id }) => id).sort()).toEqual(['m1', 'm6'])
      expect(await memories().get(keyOf('m0'))).toMatchObject({ recalledCount: 0 })
    })

    it('weighs terms by how few memories of the namespace have them', async () => {
      for (let at = 0; at < 4; at += 1) await write(`m${at}`, at === 0 ? 'the zebra and the port' : 'a port')
      await write('other', 'zebra', { namespace: 'other' })
      const weights = await memories().weigh(namespace, ['port', 'zebra', 'tulip', 'port'])
      expect([...weights.keys()].sort()).toEqual(['port', 'tulip', 'zebra'])
      // Of so few it is told as if they were twenty.
      expect(weights.get('zebra')).toBeCloseTo(Math.log(1 + 19.5 / 1.5), 9)
      expect(weights.get('tulip')).toBeCloseTo(Math.log(1 + 20.5 / 0.5), 9)
      expect(weights.get('port')).toBeCloseTo(Math.log(1 + 16.5 / 4.5), 9)
      expect(await memories().weigh('nowhere', [])).toEqual(new Map())
    })

    it.each(['sessionName', 'taskName'] as const)(
      'finds what was written around a match with the same %s',
      async (origin) => {
        await write('before', 'nothing to see', { [origin]: 'talk' })
        await write('lonely', 'the zebra is striped')
        await write('elsewhere', 'words of another talk', { [origin]: 'other' })
        await write('match', 'a zebra came by', { [origin]: 'talk' })
        await write('after', 'it ran away at once', { [origin]: 'talk' })
        await write('far', 'much later', { [origin]: 'talk' })
        const found = await list({ query: 'zebra' })
        expect(found.slice(0, 2).sort()).toEqual(['lonely', 'match'])
        expect(found.slice(2).sort()).toEqual(['after', 'before'])
        expect(await list({ query: 'zebra', [origin]: 'other' })).toEqual([])
        await memories().setDisabled(keyOf('after'), true)
        expect((await list({ query: 'zebra' })).slice(2)).toEqual(['before'])
      },
    )

    it('prefers, of two that match alike, the one that is like the best match', async () => {
      await write('best', 'zebra zebra zebra herd river dawn')
      await write('second', 'zebra zebra herd river noon')
      await write('like', 'zebra herd river night')
      bench().advance(86_400_000)
      await write('unlike', 'zebra poster hall wall')
      expect(await list({ query: 'zebra' })).toEqual(['best', 'second', 'like', 'unlike'])
    })

    it('takes a superseded memory out of normal recall, and keeps it', async () => {
      await write('old', 'the port is 8080')
      expect(await write('new', 'the port is 9090', { supersedes: 'old' })).toMatchObject({ supersedes: 'old' })
      expect(await memories().get(keyOf('old'))).toMatchObject({ supersededBy: 'new', deleted: false })
      expect((await recall('port', 'r')).map(({ id }) => id)).toEqual(['new'])
      expect(await list({ query: 'port' })).toEqual(['new'])
      expect(await list({ includeDisabled: true })).toHaveLength(2)
      expect(await reasonOf(write('other', 'x', { supersedes: 'unknown' }))).toBe('InvalidRequest')
      expect(await reasonOf(write('other', 'x', { supersedes: 'other' }))).toBe('InvalidRequest')
      expect(await reasonOf(write('other', 'x', { supersedes: 'old' }))).toBe('Conflict')
      expect(await memories().get(keyOf('other'))).toBeUndefined()
    })

    it('lets only one of two memories supersede a third', async () => {
      await write('old', 'x')
      const both = ['one', 'two'].map((id) =>
        write(id, id, { supersedes: 'old' }).then(
          () => 'made',
          () => 'refused',
        ),
      )
      expect((await Promise.all(both)).sort()).toEqual(['made', 'refused'])
    })
  })
}
