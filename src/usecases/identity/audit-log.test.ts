import { describe, expect, it } from 'vitest'
import { SvcError } from '../../errors.ts'
import type { AuditRecord } from '../../ports/identity/audit.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { type AuditNote, createAuditLog, noteChat } from './audit-log.ts'

const owner: Caller = {
  authType: 'token',
  username: 'owner',
  groups: [],
  role: 'owner',
  serverTools: true,
}

/** A log over a store that can be away, on a clock that a test moves. */
function open(level: 'writes' | 'all' = 'writes') {
  const stored: AuditRecord[] = []
  const reported: string[] = []
  const waiting: (() => void)[] = []
  const store = { isAway: false }
  let number = 0
  const audit = {
    async append(records: readonly AuditRecord[]) {
      if (store.isAway) throw new Error('away')
      stored.push(...records)
    },
    list: async () => stored.toReversed(),
  }
  const clock = {
    now: () => new Date('2026-01-01T00:00:00Z'),
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        waiting.push(resolve)
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
  }
  const ids = { next: (prefix: string) => `${prefix}-${++number}` }
  const settings = { audit: { level, report: (message: string) => reported.push(message) } }
  const log = createAuditLog({ ports: { clock, ids, records: { audit } }, settings } as unknown as UsecaseDeps)
  const tick = async () => {
    for (const resume of waiting.splice(0)) resume()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { log, stored, reported, store, tick }
}

const write: AuditNote = { via: 'api', verb: 'create', kind: 'Task', allowed: true }

describe('the audit log', () => {
  it('delays nobody: a record is written a moment later', async () => {
    const { log, stored, tick } = open()
    log.note(write)
    expect(stored).toEqual([])
    await tick()
    expect(stored).toEqual([{ id: 'aud-1', createdAt: '2026-01-01T00:00:00.000Z', ...write }])
  })

  it('records writes of people and models and every refusal, and everything else only when told to', async () => {
    const notes: [AuditNote, boolean][] = [
      [write, true],
      [{ ...write, via: 'chat' }, true],
      [{ ...write, verb: 'get' }, false],
      [{ ...write, verb: 'get', allowed: false }, true],
      [{ ...write, via: 'worker' }, false],
      [{ ...write, via: 'worker', allowed: false }, true],
      [{ ...write, via: 'proxy', verb: 'use' }, false],
    ]
    for (const [level, count] of [
      ['writes', notes.filter(([, isKept]) => isKept).length],
      ['all', notes.length],
    ] as const) {
      const { log, stored } = open(level)
      for (const [note] of notes) log.note(note)
      await log.close()
      expect(stored).toHaveLength(count)
    }
  })

  it('loses no record while the store is away for a while, and keeps the order', async () => {
    const { log, stored, reported, store, tick } = open()
    store.isAway = true
    log.note({ ...write, name: 'first' })
    await tick()
    log.note({ ...write, name: 'second' })
    await tick()
    expect(stored).toEqual([])
    expect(reported).toContain('the audit log could not be written; it will be retried')
    store.isAway = false
    await tick()
    expect(stored.map(({ name }) => name)).toEqual(['first', 'second'])
  })

  it('is limited in memory: the oldest records are dropped, which is logged', async () => {
    const { log, stored, reported, store } = open()
    store.isAway = true
    for (let at = 0; at < 20_005; at += 1) log.note({ ...write, name: String(at) })
    store.isAway = false
    await log.close()
    expect([stored.length, stored[0]?.name]).toEqual([20_000, '5'])
    expect(reported).toEqual(['5 records of the audit log were lost while the store was unavailable'])
  })

  it('shows the newest records at once, and to administrators only', async () => {
    const { log } = open()
    log.note(write)
    expect(await log.list(owner, { limit: 10 })).toMatchObject([write])
    await expect(log.list({ ...owner, role: 'editor' }, { limit: 10 })).rejects.toMatchObject({ reason: 'Forbidden' })
  })
})

describe('a write by a model', () => {
  const target = { verb: 'create', kind: 'Agent', namespace: 'team', name: 'bot' } as const

  it('is recorded for its caller with the door chat, allowed or not', async () => {
    const { log, stored } = open()
    const origin = { session: 'chat-1', requestId: 'req-1', address: '192.0.2.1' }
    const caller = { ...owner, origin }
    expect(await noteChat(log, caller, target, async () => 'made')).toBe('made')
    const refusal = new SvcError('Forbidden', 'no')
    await expect(noteChat(log, caller, target, () => Promise.reject(refusal))).rejects.toBe(refusal)
    await log.close()
    const note = { via: 'chat', caller: { kind: 'token', id: 'owner', name: 'owner' }, ...origin, ...target }
    expect(stored).toMatchObject([
      { ...note, allowed: true },
      { ...note, allowed: false },
    ])
  })
})
