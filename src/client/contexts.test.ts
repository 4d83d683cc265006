import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ContextStore, createContextStore, readTarget } from './contexts.ts'

let folder: string
let contexts: ContextStore
const path = () => join(folder, 'contexts.json')
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-contexts-'))
  contexts = createContextStore({ path: path(), write: writeFileSync })
  contexts.keep('team', { server: 'http://team', token: 'of-team', namespace: 'build' })
  contexts.keep('bare', { server: 'http://bare' })
})
afterEach(() => rmSync(folder, { recursive: true }))

type TargetOptions = { server?: string; context?: string; token?: string; dataDir?: string }
function read({ dataDir, ...options }: TargetOptions = {}, env: Record<string, string> = {}) {
  const settings = dataDir === undefined ? {} : { dataDir }
  return readTarget({ settings, ...options }, { env, contexts })
}

describe('the service that a command talks to', () => {
  it('is the one on this machine where no other is named', () => {
    expect(read().server).toBeUndefined()
    expect(read({}, { SVC_TOKEN: 't' })).toEqual({ token: 't' })
  })

  it('is chosen by flags first, then by the environment, then by the current context', () => {
    contexts.use('bare')
    expect(read()).toMatchObject({ server: 'http://bare', by: 'context bare' })
    expect(read({}, { SVC_CONTEXT: 'team' })).toMatchObject({ server: 'http://team', namespace: 'build' })
    expect(read({}, { SVC_CONTEXT: 'team', SVC_SERVER: 'http://x' })).toMatchObject({ server: 'http://x' })
    expect(read({ context: 'team' }, { SVC_SERVER: 'http://x' })).toMatchObject({ server: 'http://team' })
    expect(read({ server: 'http://y' }, { SVC_CONTEXT: 'team' })).toMatchObject({ server: 'http://y', by: '--server' })
    expect(() => read({ server: 'http://y', context: 'team' })).toThrow('not both')
  })

  it('is the one on this machine when the context `local` or a data folder is named', () => {
    contexts.use('team')
    expect(read({ context: 'local' }, { SVC_SERVER: 'http://x', SVC_TOKEN: 'of-x' })).toEqual({ token: undefined })
    expect(read({}, { SVC_CONTEXT: 'local' }).server).toBeUndefined()
    expect(read({ dataDir: '/data' }, { SVC_SERVER: 'http://x' }).server).toBeUndefined()
    contexts.use('local')
    expect(read().server).toBeUndefined()
  })

  it('is sent the token of its own context, never one meant for another service', () => {
    const env = { SVC_TOKEN: 'of-another' }
    expect(read({ context: 'team' }, env).token).toBe('of-team')
    expect(read({ context: 'team', token: 'given' }, env).token).toBe('given')
    expect(read({ context: 'bare' }, env).token).toBe('of-another')
    expect(read({ server: 'http://x' }).token).toBeUndefined()
  })
})

describe('saved contexts', () => {
  it('that do not exist are refused by name, and a removed one is no longer current', () => {
    expect(() => contexts.use('nobody')).toThrow('there is no context nobody')
    expect(() => read({ context: 'toString' })).toThrow('there is no context toString')
    contexts.use('team')
    contexts.remove('team')
    expect(contexts.current()).toBeUndefined()
    expect(Object.keys(contexts.list())).toEqual(['bare'])
  })

  it('in an unreadable file are an error, and the file is left unchanged', () => {
    writeFileSync(path(), '{"current": 7}')
    expect(() => read()).toThrow(path())
    expect(() => contexts.keep('x', { server: 'http://x' })).toThrow(path())
    expect(readFileSync(path(), 'utf8')).toBe('{"current": 7}')
  })
})
