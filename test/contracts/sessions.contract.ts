// What every store of sessions does.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { NewMessage } from '../../src/ports/chat/sessions.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

const DAY = 86_400_000

export function describeSessions(name: string, open: OpenBench): void {
  describe(`sessions on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const sessions = () => bench().stores().sessions
    const key = { namespace: 'default', name: 'talk' }
    const ensure = (name = 'talk', namespace = 'default') =>
      sessions().ensure({ namespace, name }, { create: true, sessionType: 'chat' })
    const say = (...contents: string[]): NewMessage[] => contents.map((content) => ({ role: 'user', content }))
    const listPage = async (query: { namespace?: string; limit: number }, token?: string) => {
      const page = await sessions().list(token === undefined ? query : { ...query, continue: token })
      return { names: page.items.map((session) => `${session.namespace}/${session.name}`), next: page.continue }
    }
    const contents = async (options = {}) =>
      (await sessions().transcript(key, options)).map((message) => message.content)

    it('locks a session that it creates, passes it from one holder to another, and frees it with an append', async () => {
      expect(await sessions().lock(key, 'turn-1', { create: 'chat' })).toBe(true)
      expect(await sessions().get(key)).toMatchObject({ sessionType: 'chat', activeTask: 'turn-1' })
      expect(await sessions().lock(key, 'turn-2', { create: 'task' })).toBe(false)
      expect(await sessions().lock(key, 'turn-2', { replaces: 'nobody' })).toBe(false)
      const heirs = ['turn-2', 'turn-3', 'turn-4']
      const taken = await Promise.all(heirs.map((heir) => sessions().lock(key, heir, { replaces: 'turn-1' })))
      expect(taken.filter(Boolean)).toHaveLength(1)
      const holder = heirs[taken.indexOf(true)] ?? ''
      expect(await sessions().append(key, say('a'), { release: 'turn-1' })).toEqual({ released: false })
      expect((await sessions().get(key))?.activeTask).toBe(holder)
      expect(await sessions().append(key, say('b'), { release: holder })).toEqual({ released: true })
      expect(await sessions().get(key)).toMatchObject({ sessionType: 'chat', messageCount: 2 })
      expect((await sessions().get(key))?.activeTask).toBeUndefined()
    })

    it('remembers which model answered last', async () => {
      const answeredBy = { namespace: 'default', name: 'vendor', model: 'Modèle-1' }
      await ensure()
      await sessions().append(key, say('a'), { answeredBy })
      await sessions().append(key, say('b'))
      await bench().reopen()
      expect(await sessions().get(key)).toMatchObject({ answeredBy })
      await sessions().append(key, say('c'), { answeredBy: { ...answeredBy, model: 'other' } })
      expect((await sessions().list({ limit: 1 })).items).toMatchObject([{ answeredBy: { model: 'other' } }])
      expect(await ensure('another')).not.toHaveProperty('answeredBy')
    })

    it('is called as it begins, until somebody gives it another title', async () => {
      await ensure()
      expect(await sessions().get(key)).not.toHaveProperty('title')
      await sessions().append(key, [
        { role: 'system', content: 'not this' },
        ...say(`  What\n is ${'so '.repeat(60)}long?`),
      ])
      const title = (await sessions().get(key))?.title
      expect(title).toMatch(/^What is so so .*…$/)
      expect(title?.length).toBeLessThanOrEqual(80)
      await sessions().append(key, say('and then'))
      expect((await sessions().list({ limit: 1 })).items[0]?.title).toBe(title)
      expect(await sessions().rename(key, hardTexts[0] ?? '')).toMatchObject({ ...key, title: hardTexts[0] })
      await bench().reopen()
      expect((await sessions().get(key))?.title).toBe(hardTexts[0])
      expect(await sessions().rename({ ...key, name: 'none' }, 'x')).toBeUndefined()
    })

    it('lists the sessions of chats or of tasks alone', async () => {
      await ensure()
      await sessions().ensure({ ...key, name: 'work' }, { create: true, sessionType: 'task' })
      expect((await sessions().list({ limit: 9, sessionType: 'chat' })).items.map(({ name }) => name)).toEqual(['talk'])
      expect((await sessions().list({ limit: 9, sessionType: 'task' })).items.map(({ name }) => name)).toEqual(['work'])
    })

    it('creates a session only when asked, and once', async () => {
      expect(await sessions().ensure(key, { create: false, sessionType: 'chat' })).toBeUndefined()
      const now = bench().now().toISOString()
      const made = await ensure()
      expect(made).toEqual({
        ...key,
        sessionType: 'chat',
        messageCount: 0,
        inputTokens: 0,
        outputTokens: 0,
        createdAt: now,
        updatedAt: now,
      })
      bench().advance(1000)
      expect(await sessions().ensure(key, { create: true, sessionType: 'task' })).toEqual(made)
      expect(await sessions().get(key)).toEqual(made)
      const many = await Promise.all(Array.from({ length: 10 }, () => ensure('together')))
      expect(new Set(many.map((session) => session?.createdAt)).size).toBe(1)
    })

    it('treats names that differ in case or in Unicode composition as different', async () => {
      const names = ['Talk', 'talk', 'TALK', 'é', 'e\u0301', 'ß', 'SS', 'with space', ...hardTexts]
      for (const name of names) {
        await ensure(name)
        await sessions().append({ namespace: 'default', name }, say(name))
      }
      const listed = await sessions().list({ limit: 100 })
      expect(listed.items.map((session) => session.name).sort()).toEqual([...names].sort())
      for (const name of names) {
        const [message, ...others] = await sessions().transcript({ namespace: 'default', name })
        expect([message?.content, others.length]).toEqual([name, 0])
      }
    })

    it('appends in order, counts, and keeps every field of a message', async () => {
      await ensure()
      const messages: NewMessage[] = [
        { role: 'user', content: 'look', ts: '2026-01-02T03:04:05.678Z' },
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'c1', name: 'find', input: { q: 'a\0\ud800', n: [1, null] } }],
        },
        { role: 'tool', content: 'found', name: 'find', input: { q: 'x' }, toolCallID: 'c1' },
      ]
      bench().advance(1000)
      const now = bench().now().toISOString()
      await sessions().append(key, messages, { usage: { inputTokens: 7, outputTokens: 3 } })
      await sessions().append(key, say('more'), { usage: { inputTokens: 1, outputTokens: 1 } })
      const [first, second, third, fourth] = await sessions().transcript(key)
      expect(first).toEqual({ ...messages[0], id: first?.id })
      expect(second).toEqual({ ...messages[1], id: second?.id, ts: now })
      expect(third).toEqual({ ...messages[2], id: third?.id, ts: now })
      expect(fourth).toEqual({ role: 'user', content: 'more', id: fourth?.id, ts: now })
      expect(await sessions().get(key)).toMatchObject({
        messageCount: 4,
        inputTokens: 8,
        outputTokens: 4,
        updatedAt: now,
      })
    })

    it('keeps any text as it is', async () => {
      await ensure()
      await sessions().append(key, say(...hardTexts))
      await bench().reopen()
      expect(await contents()).toEqual(hardTexts)
    })

    it('appends all messages or none', async () => {
      await ensure()
      bench().faults.writes = 'fail'
      await expect(sessions().append(key, say('a', 'b'))).rejects.toThrow('the process died')
      bench().faults.writes = 'work'
      const unserialisable = [...say('a'), { role: 'user', content: 'b', input: { big: 1n } } as NewMessage]
      await expect(sessions().append(key, unserialisable)).rejects.toThrow()
      expect(await contents()).toEqual([])
      expect((await sessions().get(key))?.messageCount).toBe(0)
    })

    it('stores an append with the same dedupe key once, also when two arrive together', async () => {
      await ensure()
      await ensure('other')
      const usage = { inputTokens: 5, outputTokens: 5 }
      await Promise.all([1, 2, 3].map(() => sessions().append(key, say('once'), { dedupe: 'turn-1', usage })))
      await bench().reopen()
      await sessions().append(key, say('again'), { dedupe: 'turn-1', usage })
      await sessions().append(key, say('next'), { dedupe: 'turn-2', usage })
      await sessions().append({ ...key, name: 'other' }, say('mine'), { dedupe: 'turn-1' })
      expect(await contents()).toEqual(['once', 'next'])
      expect(await sessions().get(key)).toMatchObject({ messageCount: 2, inputTokens: 10 })
      expect((await sessions().get({ ...key, name: 'other' }))?.messageCount).toBe(1)
    })

    it('keeps the messages of each append together when many arrive at once', async () => {
      await ensure()
      const turns = Array.from({ length: 30 }, (_, turn) =>
        sessions().append(key, say(`${turn} asks`, `${turn} hears`)),
      )
      await Promise.all(turns)
      const messages = await sessions().transcript(key)
      expect(messages).toHaveLength(60)
      for (let index = 0; index < 60; index += 2) {
        expect(messages[index + 1]?.content).toBe(messages[index]?.content.replace('asks', 'hears'))
      }
      const numbers = messages.map((message) => message.id)
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    })

    it('returns the newest messages, the oldest of them first, and pages backwards [SESS-015]', async () => {
      await ensure()
      await sessions().append(key, say('1', '2', '3', '4', '5'))
      expect(await contents({ limit: 2 })).toEqual(['4', '5'])
      const [oldest] = await sessions().transcript(key, { limit: 2 })
      expect(await contents({ limit: 2, beforeId: oldest?.id })).toEqual(['2', '3'])
      expect(await contents({ limit: 99 })).toEqual(['1', '2', '3', '4', '5'])
      expect(await sessions().transcript({ ...key, name: 'missing' })).toEqual([])
    })

    it('answers NotFound for a session that does not exist', async () => {
      const missing = { ...key, name: 'missing' }
      const notFound = { reason: 'NotFound' }
      await expect(sessions().append(missing, say('a'))).rejects.toMatchObject(notFound)
      await expect(sessions().lock(missing, 'task-1')).rejects.toMatchObject(notFound)
      await expect(sessions().compact(missing, 1, [])).rejects.toMatchObject(notFound)
      await sessions().unlock(missing, 'task-1')
      expect(await sessions().remove(missing)).toBe(false)
    })

    it('locks for one holder at a time, however many ask', async () => {
      await ensure()
      const holders = Array.from({ length: 20 }, (_, index) => `task-${index}`)
      const locked = await Promise.all(holders.map((holder) => sessions().lock(key, holder)))
      expect(locked.filter(Boolean)).toHaveLength(1)
      const winner = holders[locked.indexOf(true)] ?? ''
      expect((await sessions().get(key))?.activeTask).toBe(winner)
      expect(await sessions().lock(key, winner)).toBe(true)
      await sessions().unlock(key, 'somebody else')
      expect(await sessions().lock(key, 'somebody else')).toBe(false)
      await bench().reopen()
      expect(await sessions().lock(key, 'somebody else')).toBe(false)
      await sessions().unlock(key, winner)
      expect((await sessions().get(key))?.activeTask).toBeUndefined()
      expect(await sessions().lock(key, 'somebody else')).toBe(true)
    })

    it('lists newest first, page by page, while sessions are created and changed', async () => {
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        await ensure(name)
        bench().advance(name === 'b' ? 0 : 1000)
      }
      const first = await listPage({ limit: 2 })
      expect(first.names).toEqual(['default/e', 'default/d'])
      await ensure('newer')
      await sessions().append({ namespace: 'default', name: 'a' }, say('x'))
      const second = await listPage({ limit: 2 }, first.next)
      expect(second.names).toEqual(['default/c', 'default/b'])
      expect(await listPage({ limit: 2 }, second.next)).toEqual({ names: ['default/a'], next: undefined })
    })

    it('lists one namespace, and refuses a token of another list', async () => {
      for (const namespace of ['one', 'two', 'one-more']) {
        await ensure('x', namespace)
        await ensure('y', namespace)
      }
      const { names, next } = await listPage({ namespace: 'one', limit: 1 })
      expect(names).toEqual(['one/y'])
      expect(await listPage({ namespace: 'one', limit: 5 }, next)).toEqual({ names: ['one/x'], next: undefined })
      const invalid = { reason: 'InvalidRequest' }
      await expect(listPage({ namespace: 'two', limit: 5 }, next)).rejects.toMatchObject(invalid)
      await expect(listPage({ limit: 5 }, next)).rejects.toMatchObject(invalid)
      await expect(listPage({ namespace: 'one', limit: 5 }, 'x')).rejects.toMatchObject(invalid)
      expect(await listPage({ namespace: 'none', limit: 5 })).toEqual({ names: [], next: undefined })
    })

    it('replaces the head of a transcript and leaves the rest unchanged', async () => {
      await ensure()
      await sessions().append(key, say('1', '2', '3', '4', '5'))
      const [, , third] = await sessions().transcript(key)
      await sessions().compact(key, third?.id ?? 0, say('first of all', 'summary'))
      expect(await contents()).toEqual(['first of all', 'summary', '4', '5'])
      expect((await sessions().get(key))?.messageCount).toBe(4)
      await sessions().append(key, say('6'))
      const ids = (await sessions().transcript(key)).map((message) => message.id)
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
      await sessions().compact(key, ids.at(-1) ?? 0, say('all of it'))
      expect(await contents()).toEqual(['all of it'])
      await expect(sessions().compact(key, 1, say('a', 'b'))).rejects.toMatchObject({ reason: 'InvalidRequest' })
      await sessions().append(key, say('7'))
      expect(await contents()).toEqual(['all of it', '7'])
    })

    it('removes a session with its messages, but not while it is locked', async () => {
      await ensure()
      await sessions().append(key, say('a'), { dedupe: 'turn-1' })
      await sessions().lock(key, 'task-1')
      await expect(sessions().remove(key)).rejects.toMatchObject({ reason: 'Conflict' })
      await sessions().unlock(key, 'task-1')
      expect(await sessions().remove(key)).toBe(true)
      expect(await sessions().get(key)).toBeUndefined()
      expect(await sessions().remove(key)).toBe(false)
      await ensure()
      expect(await contents()).toEqual([])
      await sessions().append(key, say('b'), { dedupe: 'turn-1' })
      expect(await contents()).toEqual(['b'])
    })

    it('keeps what a program knows of a session, until the session goes another way', async () => {
      const own = { program: 'agent runtime p/m', id: 'run-1', text: 'a\0\ud800é\n' }
      const holder = 'task-1'
      const keep = (kept = own) => sessions().keepProgram(key, kept, { holder, more: 2 })
      await expect(keep()).rejects.toMatchObject({ reason: 'Conflict' })
      await ensure()
      await expect(keep()).rejects.toMatchObject({ reason: 'Conflict' })
      await sessions().lock(key, holder)
      await sessions().append(key, say('a'))
      await keep({ ...own, text: 'before' })
      await keep()
      // What the task has done is not in the session yet.
      expect(await sessions().findProgram(key, own.program)).toBeUndefined()
      await sessions().append(key, say('b', 'c'))
      await bench().reopen()
      expect(await sessions().findProgram(key, own.program)).toEqual(own)
      expect(await sessions().findProgram(key, 'agent runtime p/other')).toBeUndefined()
      expect(await sessions().findProgram({ ...key, name: 'another' }, own.program)).toBeUndefined()
      await sessions().append(key, say('d'))
      expect(await sessions().findProgram(key, own.program)).toBeUndefined()
    })

    it('removes what a program knows with its session', async () => {
      const own = { program: 'agent runtime p/m', id: 'run-1', text: 'a' }
      await ensure()
      await sessions().lock(key, 'task-1')
      await sessions().keepProgram(key, own, { holder: 'task-1', more: 0 })
      expect(await sessions().findProgram(key, own.program)).toEqual(own)
      await sessions().unlock(key, 'task-1')
      await sessions().remove(key)
      await ensure()
      expect(await sessions().findProgram(key, own.program)).toBeUndefined()
    })

    const secret = (name: string) => ({ namespace: 'default', name })
    const join = (requester: string | undefined, ...names: string[]) =>
      sessions().join(key, { requester, secrets: names.map(secret) })

    it('knows whose Secrets a session was given, before it exists and as long as it does', async () => {
      const hard = hardTexts[0] ?? ''
      expect(await join('ann', 'a')).toEqual({ others: [], added: true })
      expect(await join('ann', 'a')).toEqual({ others: [], added: false })
      const ann = { requester: 'ann', secrets: [secret('a')] }
      bench().advance(1000)
      expect(await join(undefined, 'b', hard)).toEqual({ others: [ann], added: true })
      const nobody = { requester: undefined, secrets: [secret('b'), secret(hard)] }
      await ensure()
      await bench().reopen()
      bench().advance(1000)
      expect(await join('ann', 'c')).toEqual({ others: [ann, nobody], added: true })
      await sessions().leave(key, { requester: 'ann', secrets: [secret('c')] })
      expect(await sessions().join(key, { secrets: [] })).toEqual({ others: [ann, nobody], added: false })
      expect(await sessions().join({ ...key, name: 'another' }, { secrets: [] })).toEqual({ others: [], added: false })
      await sessions().remove(key)
      expect(await join('eve', 'd')).toEqual({ others: [], added: true })
    })

    it('lets each of those who join at once find those before it', async () => {
      const names = Array.from({ length: 12 }, (_, at) => `joins-${at}`)
      const found = await Promise.all(names.map((name) => join(name, 'a')))
      // They took turns: the first found nobody, the last all others.
      expect(found.map(({ others }) => others.length).sort((a, b) => a - b)).toEqual(names.map((_, at) => at))
    })

    it('forgets participants without a session when they are as old as a session that is swept', async () => {
      await ensure('there')
      const there = { ...key, name: 'there' }
      await sessions().join(there, { requester: 'ann', secrets: [secret('a')] })
      await join('ann', 'a')
      bench().advance(90 * DAY)
      await sessions().append(there, say('a'))
      await join('bob', 'b')
      expect(await sessions().sweep(new Date(bench().now().getTime() - DAY))).toBe(0)
      expect((await sessions().join(there, { secrets: [] })).others).toHaveLength(1)
      expect((await sessions().join(key, { secrets: [] })).others).toEqual([
        { requester: 'bob', secrets: [secret('b')] },
      ])
    })

    it('sweeps sessions that were not used since a given time and are not locked', async () => {
      for (const name of ['old', 'held', 'used']) await ensure(name)
      await sessions().append({ ...key, name: 'old' }, say('a'))
      await sessions().lock({ ...key, name: 'held' }, 'task-1')
      bench().advance(90 * DAY)
      await sessions().append({ ...key, name: 'used' }, say('b'))
      expect(await sessions().sweep(new Date(bench().now().getTime() - DAY))).toBe(1)
      const left = (await sessions().list({ limit: 10 })).items.map((session) => session.name)
      expect(left.sort()).toEqual(['held', 'used'])
    })

    it('is gone once its retention time is over, unless it is locked', async () => {
      const one = { ...key, name: 'bounded' }
      await ensure('bounded')
      await sessions().lock(one, 'task-1')
      await sessions().append(one, say('a'))
      await sessions().unlock(one, 'task-2', { expiresAt: bench().now() })
      await sessions().unlock(one, 'task-1', { expiresAt: new Date(bench().now().getTime() + 1000) })
      expect((await sessions().get(one))?.messageCount).toBe(1)
      // Held over its time; who lets it go says anew until when.
      await sessions().lock(one, 'task-2')
      bench().advance(2000)
      expect((await sessions().get(one))?.messageCount).toBe(1)
      await sessions().unlock(one, 'task-2', { expiresAt: new Date(bench().now().getTime() + 1000) })
      expect(await sessions().sweep(new Date(0))).toBe(0)
      bench().advance(1000)
      expect(await sessions().get(one)).toBeUndefined()
      expect((await sessions().list({ limit: 10 })).items).toEqual([])
      expect((await sessions().ensure(one, { create: true, sessionType: 'task' }))?.messageCount).toBe(0)
      await sessions().lock(one, 'task-3')
      await sessions().append(one, say('b'))
      await sessions().unlock(one, 'task-3', { expiresAt: bench().now() })
      expect(await sessions().lock(one, 'task-4', { create: 'chat' })).toBe(true)
      expect(await sessions().get(one)).toMatchObject({ messageCount: 0, sessionType: 'chat' })
      await sessions().unlock(one, 'task-4', { expiresAt: bench().now() })
      expect(await sessions().sweep(new Date(0))).toBe(1)
    })

    it('sweeps many sessions at once', async () => {
      await Promise.all(Array.from({ length: 450 }, (_, index) => ensure(`old-${index}`)))
      bench().advance(1)
      expect(await sessions().sweep(bench().now())).toBe(450)
      expect((await sessions().list({ limit: 10 })).items).toEqual([])
    })
  })
}
