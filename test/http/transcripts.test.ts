// Search in transcripts over HTTP: who finds what, and what is asked for wrongly.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Access } from '../../src/contract/api/identity/access.ts'
import type { NewMessage } from '../../src/ports/chat/sessions.ts'
import type { Authorizer } from '../../src/ports/identity/identity.ts'
import { aiTask, type Service, startService } from './service.ts'

/** Sessions that the place where rights live lets nobody read, though it lets everybody list. */
const hidden = ['secret-talk']
const authorizer: Authorizer = {
  async authorize(_caller, { verb, kind, name = '' }: Access) {
    const isHidden = kind === 'Session' && verb === 'get' && hidden.includes(name)
    return isHidden ? { allowed: false, reason: 'not this one' } : { allowed: true }
  },
}

let service: Service
beforeAll(async () => {
  service = await startService({ identity: { authorizer } })
  await say('talk', 'the needle of talk', 'default')
  await say('secret-talk', 'the needle of secret-talk', 'default')
  await say('search', 'the needle of search', 'default')
  await say('talk', 'the needle of elsewhere', 'elsewhere')
  await say('tools', { role: 'tool', name: 'find', content: 'the needle of a tool' }, 'default')
})
afterAll(() => service.stop())

async function say(name: string, message: string | NewMessage, namespace: string) {
  const { sessions } = service.ports.records
  await sessions.ensure({ namespace, name }, { create: true, sessionType: 'chat' })
  const messages = [typeof message === 'string' ? ({ role: 'user', content: message } as const) : message]
  await sessions.append({ namespace, name }, messages)
}

const ask = (path: string, query: Record<string, string>, token?: string) =>
  service.call(`GET ${path}?${new URLSearchParams(query)}`, token === undefined ? {} : { token })

async function find(query: Record<string, string>, token?: string): Promise<string[]> {
  const answer = await ask('/api/v1/transcripts', query, token)
  expect([answer.statusCode, answer.body]).toEqual([200, expect.anything()])
  return answer
    .json()
    .items.map((item: { namespace: string; sessionName: string }) => `${item.namespace}/${item.sessionName}`)
    .sort()
}

describe('a search in transcripts', () => {
  it('answers snippets in the form of a list', async () => {
    const answer = await ask('/api/v1/transcripts', { query: 'NEEDLE "a tool"', maxSnippetLength: '12' })
    expect(answer.json()).toEqual({
      items: [
        {
          namespace: 'default',
          sessionName: 'tools',
          messageId: 1,
          role: 'tool',
          name: 'find',
          snippet: '…e needle o…',
          createdAt: expect.any(String),
        },
      ],
      metadata: {},
    })
  })

  it('finds what the caller may read, and nothing else', async () => {
    expect(await find({ query: 'needle' })).toEqual(['default/search', 'default/talk', 'default/tools'])
    expect(await find({ query: 'needle', allNamespaces: 'true' })).toEqual([
      'default/search',
      'default/talk',
      'default/tools',
      'elsewhere/talk',
    ])
    const { tokens } = service.ports
    const bound = await tokens.create({ name: 'bound', namespace: 'elsewhere', role: 'viewer', serverTools: false })
    expect(await find({ query: 'needle' }, bound.token)).toEqual(['elsewhere/talk'])
    expect(await find({ query: 'needle', allNamespaces: 'true' }, bound.token)).toEqual(['elsewhere/talk'])
    const foreign = await ask('/api/v1/transcripts', { query: 'needle', namespace: 'default' }, bound.token)
    expect(foreign.statusCode).toBe(403)
  })

  it('keeps to sessions and roles', async () => {
    expect(await find({ query: 'needle', sessionName: 'talk' })).toEqual(['default/talk'])
    expect(await find({ query: 'needle', excludeSessionName: 'talk' })).toEqual(['default/search', 'default/tools'])
    expect(await find({ query: 'needle', roles: 'tool, system' })).toEqual(['default/tools'])
    expect(await find({ query: 'needle', limit: '1' })).toHaveLength(1)
    expect(await find({ query: 'needle', limit: '0' })).toHaveLength(3)
    expect(await find({ query: 'needle', limit: '5000', maxSnippetLength: '5000' })).toHaveLength(3)
  })

  it('leaves a session called search what it is', async () => {
    const answer = await service.call('GET /api/v1/sessions/search')
    expect(answer.json()).toMatchObject({ name: 'search', messageCount: 1 })
  })

  it('refuses what is wrong and names it', async () => {
    const wrong: [Record<string, string>, string][] = [
      [{}, 'query'],
      [{ query: '' }, 'query'],
      [{ query: ' "" ' }, 'query'],
      [{ query: 'x'.repeat(1001) }, 'query'],
      [{ query: 'x', limit: '-1' }, 'limit'],
      [{ query: 'x', limit: 'many' }, 'limit'],
      [{ query: 'x', roles: 'nobody' }, 'roles'],
      [{ query: 'x', maxSnippetLength: '1.5' }, 'maxSnippetLength'],
    ]
    for (const [query, path] of wrong) {
      const answer = await ask('/api/v1/transcripts', query)
      expect([answer.statusCode, answer.json().error.details[0].path]).toEqual([400, path])
    }
  })

  it('takes any query', async () => {
    const hostile = [
      '"',
      'a"b',
      '" OR "1"="1',
      'NEAR(a b)',
      'a* ^b',
      '(((',
      '\0',
      '%00',
      '\\',
      '{grams}:x',
      'ß'.repeat(1000),
    ]
    for (const query of [...hostile, '𝒳', "'; drop table sessions; --"]) {
      const answer = await ask('/api/v1/transcripts', { query })
      expect([query, answer.statusCode]).toEqual([query, query === '"' ? 400 : 200])
    }
    const broken = await service.call('GET /api/v1/transcripts?query=%ED%A0%80%FF')
    expect(broken.statusCode).toBeLessThan(500)
  })
})

describe('a search by a task', () => {
  const path = '/internal/v1/sessions/default/search'

  async function run(name: string, more: object = {}) {
    await service.call('POST /api/v1/tasks', { payload: { ...aiTask(name), ...more } })
    return service.runTask(name)
  }

  it('finds the sessions of its namespace, and its own only by name', async () => {
    const { token } = await run('searcher', { sessionRef: { name: 'talk' } })
    const names = async (query: Record<string, string>) => {
      const answer = await ask(path, { query: 'needle', ...query }, token)
      expect(answer.statusCode).toBe(200)
      return answer.json().map((item: { sessionName: string }) => item.sessionName)
    }
    expect((await names({})).sort()).toEqual(['search', 'secret-talk', 'tools'])
    expect(await names({ sessionName: 'talk' })).toEqual(['talk'])
    expect((await names({ excludeSessionName: 'search' })).sort()).toEqual(['secret-talk', 'talk', 'tools'])
    const [first] = (await ask(path, { query: 'needle', roles: 'tool' }, token)).json()
    expect(first).toEqual({
      sessionName: 'tools',
      messageId: 1,
      role: 'tool',
      name: 'find',
      snippet: 'the needle of a tool',
      createdAt: expect.any(String),
    })
  })

  it('is for a task that runs, in its own namespace', async () => {
    const { token } = await run('brief')
    expect((await ask('/internal/v1/sessions/elsewhere/search', { query: 'needle' }, token)).statusCode).toBe(403)
    expect((await ask(path, {}, token)).statusCode).toBe(400)
    expect((await ask(path, { query: 'needle' })).statusCode).toBe(401)
    await service.setStatus('Task', 'brief', { phase: 'Succeeded', attempts: 1 })
    expect((await ask(path, { query: 'needle' }, token)).statusCode).toBe(403)
  })
})
