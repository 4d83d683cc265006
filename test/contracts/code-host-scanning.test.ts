// Code scanning of the code host, against a double of its part that the emulator lacks.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCodeHosts } from '../../src/codehost/code-hosts.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { type CodeHost, isCodeHostError } from '../../src/ports/codehost/code-host.ts'
import { type CodeHostServer, startCodeHost } from '../fixtures/codehost/server.ts'
import { readExport } from '../fixtures/scans/sarif.ts'

let server: CodeHostServer
const egress = createEgress()
const commit = 'ab'.repeat(20)
const ref = 'refs/heads/main'
const category = 'svc/shop/'

beforeAll(async () => {
  server = await startCodeHost({ repositories: ['acme/site', 'acme/off'] })
})
afterAll(async () => {
  await egress.close()
  await server.close()
})

function open(token: string, name = 'site'): CodeHost {
  const hosts = createCodeHosts({
    hosts: ['github.com'],
    apiUrls: { 'github.com': server.url },
    egress,
    policy: { allowNetworks: [], deny: [] },
    now: Date.now,
    pause: async () => {},
  })
  return hosts.open(
    { host: 'github.com', owner: 'acme', name },
    { readCredentials: async () => ({ kind: 'token', token }) },
  )
}
const exported = async () =>
  JSON.stringify(await readExport([], { scan: 'shop', repoURL: 'https://github.com/acme/site' }))
const faultOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => (isCodeHostError(error) ? { fault: error.fault, message: error.message } : error),
  )

it('takes a log, says how far it is, and then has its analysis', async () => {
  const host = open(server.tokenOf('writer'))
  expect(await host.hasAnalysis({ ref, commit, category })).toBe(false)
  const id = await host.uploadAnalysis({ ref, commit, sarif: await exported() })
  expect(server.codeScanning.uploads.get(id)).toMatchObject({ ref, commit_sha: commit, log: { version: '2.1.0' } })
  expect((await host.getAnalysisUpload(id)).state).toBe('pending')
  expect((await host.getAnalysisUpload(id)).state).toBe('complete')
  expect(await host.hasAnalysis({ ref, commit, category })).toBe(true)
  expect(await host.hasAnalysis({ ref, commit: 'cd'.repeat(20), category })).toBe(false)
  expect(await host.hasAnalysis({ ref, commit, category: 'svc/other/' })).toBe(false)
})

it('says which right is missing, and why a repository has none', async () => {
  const denied = open(server.denyToken('writer', ['security_events=write']))
  const sarif = await exported()
  expect(await faultOf(denied.uploadAnalysis({ ref, commit, sarif }))).toEqual({
    fault: 'MissingRight',
    message: expect.stringContaining('it needs security_events=write'),
  })
  server.codeScanning.disabled.set(
    'acme/off',
    'Advanced Security must be enabled for this repository to use code scanning.',
  )
  const off = open(server.tokenOf('writer'), 'off')
  expect(await faultOf(off.uploadAnalysis({ ref, commit, sarif }))).toEqual({
    fault: 'MissingRight',
    message: expect.stringContaining('Advanced Security must be enabled'),
  })
})

it('refuses a log that is too large before it is sent, and passes on why one was rejected', async () => {
  const host = open(server.tokenOf('writer'))
  const large = randomBytes(11 * 1024 * 1024).toString('base64')
  server.seen.length = 0
  expect(await faultOf(host.uploadAnalysis({ ref, commit, sarif: large }))).toMatchObject({ fault: 'TooLarge' })
  expect(server.seen).toEqual([])
  expect(await faultOf(host.uploadAnalysis({ ref, commit, sarif: 'no log' }))).toEqual({
    fault: 'Invalid',
    message: expect.stringContaining('rejecting SARIF'),
  })
  server.codeScanning.fail('rules without id')
  const id = await host.uploadAnalysis({ ref, commit, sarif: await exported() })
  await host.getAnalysisUpload(id)
  expect(await host.getAnalysisUpload(id)).toEqual({ state: 'failed', errors: ['rules without id'] })
})
