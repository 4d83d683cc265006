import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { SvcError } from '../errors.ts'
import { loadConfig } from './load.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function writeFile(text: string): string {
  const file = join(folder, 'svc.yaml')
  writeFileSync(file, text)
  return file
}

describe('the configuration', () => {
  it('takes flags first, then the environment, then the file, then defaults [CLI-005]', () => {
    const file = writeFile('port: 1\nlogLevel: debug\nmaxIterations: 7\n')
    const env = { SVC_PORT: '2', SVC_LOG_LEVEL: 'warn' }
    const config = loadConfig({ flags: { port: '3' }, env, file })
    expect(config).toMatchObject({ port: 3, logLevel: 'warn', maxIterations: 7, host: '127.0.0.1' })
    const { port, logLevel, maxIterations, host } = config.sources
    expect({ port, logLevel, maxIterations, host }).toEqual({
      port: 'flag',
      logLevel: 'environment',
      maxIterations: 'file',
      host: 'default',
    })
  })

  it('reports every unknown flag and field, and every bad value [CLI-006]', () => {
    const file = writeFile('prot: 1\nlogLevel: loud\n')
    const load = () => loadConfig({ flags: { colour: 'red' }, env: { SVC_PORT: 'many' }, file })
    expect(load).toThrow(/--colour.*prot|prot.*--colour/s)
    try {
      load()
    } catch (error) {
      const paths = (error as SvcError).details?.map((problem) => problem.path)
      expect(paths).toEqual(expect.arrayContaining(['--colour', 'prot', 'SVC_PORT', 'logLevel']))
    }
  })

  it('puts data into SVC_DATA_DIR, else into XDG_DATA_HOME/svc [CLI-004]', () => {
    const dataDirOf = (env: Record<string, string>) => loadConfig({ flags: {}, env }).paths.dataDir
    expect(dataDirOf({ SVC_DATA_DIR: '/data', XDG_DATA_HOME: '/xdg', HOME: '/home/u' })).toBe('/data')
    expect(dataDirOf({ XDG_DATA_HOME: '/xdg', HOME: '/home/u' })).toBe('/xdg/svc')
    expect(dataDirOf({ HOME: '/home/u' })).toBe('/home/u/.local/share/svc')
    for (const XDG_DATA_HOME of ['', 'here'])
      expect(dataDirOf({ XDG_DATA_HOME, HOME: '/home/u' })).toBe('/home/u/.local/share/svc')
  })

  it('cannot be changed once it is made', () => {
    expect(Object.isFrozen(loadConfig({ flags: {}, env: {} }))).toBe(true)
  })
})

describe('the mode', () => {
  const inPod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
  const load = (env: Record<string, string>, flags = {}) => loadConfig({ flags, env })

  it('is embedded by default, and kubernetes in a pod or when asked for [MODE-007]', () => {
    expect(load({}).mode).toBe('embedded')
    expect(load(inPod)).toMatchObject({ mode: 'kubernetes', podAddress: { host: '10.96.0.1', port: '443' } })
    expect(load({}, { mode: 'kubernetes' }).mode).toBe('kubernetes')
    expect(load({ ...inPod, SVC_MODE: 'embedded' }).mode).toBe('embedded')
  })

  it('includes the own pod only when both its name and its uid are set', () => {
    expect(load({ ...inPod, POD_NAME: 'svc-1', POD_UID: 'u-1' }).ownPod).toEqual({ name: 'svc-1', uid: 'u-1' })
    expect(load({ ...inPod, POD_NAME: 'svc-1' }).ownPod).toBeUndefined()
  })

  it('determines the listen address unless one is set', () => {
    expect(load(inPod).host).toBe('0.0.0.0')
    expect(load(inPod, { host: '127.0.0.1' }).host).toBe('127.0.0.1')
    expect(load({}, { mode: 'kubernetes' }).host).toBe('127.0.0.1')
    expect(load({ ...inPod, SVC_MODE: 'embedded' }).host).toBe('127.0.0.1')
  })
})

describe('a vendor’s key in the environment', () => {
  it('is ignored when it is a token of this service, exported for programs that use the proxies', () => {
    const load = (env: Record<string, string>) => loadConfig({ flags: {}, env }).vendorKeys
    expect(load({ ANTHROPIC_API_KEY: 'made-up' })).toEqual([{ name: 'ANTHROPIC_API_KEY', value: 'made-up' }])
    expect(load({ ANTHROPIC_API_KEY: 'svc_0123', OPENAI_API_KEY: 'svc_0123' })).toEqual([])
  })
})
