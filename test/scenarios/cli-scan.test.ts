// `svc scan`: from a repository to the pull request that repairs what was found, on the real program, its worker and a code host.
import { mkdirSync, mkdtempSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Finding } from '../../src/contract/api/security/findings.ts'
import { hasOpenssl, makeCertificate } from '../fixtures/certificates.ts'
import { type CodeHostServer, startCodeHost } from '../fixtures/codehost/server.ts'
import { addCommit, git } from '../fixtures/git/repository.ts'
import { type GitServer, startGitServer } from '../fixtures/git/server.ts'
import {
  readText,
  type ScriptedVendor,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from '../fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../fixtures/time.ts'
import { removeFolder, runSvc, type Service, startService } from './service.ts'

const root = mkdtempSync(join(tmpdir(), 'svc-remotes-'))
const bare = join(root, 'acme', 'site.git')
let certificate: ReturnType<typeof makeCertificate>
let codeHost: CodeHostServer
let gitServer: GitServer
let front: Server
let vendor: ScriptedVendor
let service: Service

const query = '\tdb.Query("select * from users where name = \'" + user + "\'")'
const login = `package auth\n\nfunc Login(db DB, user string) {\n${query}\n}\n`
const mended = login.replace(query, '\tdb.Query("select * from users where name = ?", user)')
const path = 'auth/login.go'

const say = (value: unknown): VendorAnswer => [{ text: typeof value === 'string' ? value : JSON.stringify(value) }]

function report(sliceId: string) {
  const place = { path, startLine: 4, endLine: 4, symbol: 'Login', quote: query.trim() }
  const words = {
    title: 'SQL injection in Login',
    summary: 'The name of the user goes into the statement as it is: any caller reads and changes every account.',
    remediation: 'Use parameters.',
  }
  const kind = { category: 'sql-injection', severity: 'high', confidence: 'high' }
  return { schemaVersion: 2, scan: { sliceId, summary: 'read' }, findings: [{ ...words, ...kind, evidence: [place] }] }
}

function summary(findingId: string) {
  const testsRun = [{ command: 'go test ./...', exitCode: 0 }]
  return { schemaVersion: 1, findingId, summary: 'uses a parameter', changedFiles: [path], testsRun, risk: 'low' }
}

function answer({ messages }: VendorRequest): VendorAnswer {
  const prompt = readText(messages.findLast(({ role }) => role === 'user')?.content)
  if (prompt.startsWith('Write a threat model')) return say('# Threat model')
  const isFirst = !messages.some(({ role }) => role === 'assistant')
  const [, work, id = ''] = /^(Validate|Repair) finding (fnd_\w+)/.exec(prompt) ?? []
  if (work === 'Validate') return say({ finding_id: id, status: 'validated', summary: 'the statement is joined' })
  if (work === 'Repair' && isFirst)
    return [{ call: { name: 'file_write', args: { path: `/workspace/${path}`, content: mended } } }]
  if (work === 'Repair') return say(summary(id))
  const sliceId = /Review slice (slice_\w+)/.exec(prompt)?.[1] ?? ''
  return say(prompt.includes(`file "${path}" (owned`) ? report(sliceId) : { ...report(sliceId), findings: [] })
}

/** Git over TLS in front of the plain server. */
async function openFront(): Promise<Server> {
  const server = createServer({ cert: certificate.cert, key: certificate.key }, (incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming
    const onward = request(`${gitServer.origin}${url}`, { method, headers }, (answered) => {
      outgoing.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(outgoing)
    })
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

beforeAll(async () => {
  if (!hasOpenssl) return
  mkdirSync(join(root, 'acme'))
  git(join(root, 'acme'), ['init', '-q', '--bare', '-b', 'main', 'site.git'])
  git(bare, ['config', 'http.receivepack', 'true'])
  addCommit(bare, 'main', { 'README.md': '# Site\n', 'go.mod': 'module example.com/site\n', [path]: login })
  certificate = makeCertificate('git')
  codeHost = await startCodeHost({ repositories: ['acme/site'] })
  gitServer = await startGitServer({ root })
  front = await openFront()
  vendor = await startVendor(answer)
  const host = `localhost:${(front.address() as AddressInfo).port}`
  const flags = ['--allow-network', '127.0.0.0/8', '--codehost-hosts', host, '--codehost-api-url', codeHost.url]
  service = await startService({ flags, env: { NODE_EXTRA_CA_CERTS: certificate.certFile } })
  const post = async (noun: string, body: object) =>
    expect((await service.call('POST', `/api/v1/${noun}`, body)).status).toBe(201)
  await post('secrets', { name: 'forge', stringData: { CODEHOST_TOKEN: codeHost.tokenOf('writer') } })
  await post('providers', { name: 'default', spec: { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' } })
  await post('agents', { name: 'auditor', spec: { providerRef: { name: 'default' } } })
})
afterAll(async () => {
  await service?.stop()
  await vendor?.close()
  front?.closeAllConnections()
  front?.close()
  await gitServer?.stop()
  await codeHost?.close()
  certificate?.remove()
  if (service !== undefined) removeFolder(service.folder)
  removeFolder(root)
})

const svc = (...args: string[]) => runSvc(['scan', ...args], service.env)
const print = async (...args: string[]) => {
  const { stdout, stderr, code } = await svc(...args)
  expect([code, stderr]).toEqual([0, expect.any(String)])
  return stdout
}

it.runIf(hasOpenssl)('goes from a repository to the pull request that repairs it [FIND-017]', async () => {
  const { port } = front.address() as AddressInfo
  const repo = `https://localhost:${port}/acme/site.git`
  expect((await svc('list')).stderr).toContain('scan create NAME --repo URL --agent AGENT')
  const wrong = await svc('create', 'site', '--repo', repo, '--agent', 'auditor', '--max-cost', 'much')
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--max-cost much: must be a number above 0')])
  const settings = ['--secret', 'forge', '--branch', 'main', '--validation', 'off', '--max-tokens', '100000']
  expect(await print('create', 'site', '--repo', repo, '--agent', 'auditor', ...settings)).toContain('scan runs site')
  await waitFor(async () => (await print('list')).includes(' Ready '), 'the first run')
  expect(await print('runs', 'site')).toMatch(/^ID .*\nscan_\w{12} +succeeded /)
  expect(await print('list')).toMatch(/^NAME +PHASE .*REPOSITORY\nsite /)
  expect(await print('get', 'site')).toContain('maxTokens: 100000')

  const table = await print('findings', 'site', '--severity', 'high')
  expect(table).toMatch(/^ID +SEVERITY .*TITLE\nfnd_\w{12} +high +high +open +unvalidated .* auth\/login\.go:4 +SQL/)
  expect((await svc('findings', 'site', '--severity', 'low')).stderr).toContain('no findings of site')
  const id = /fnd_\w{12}/.exec(table)?.[0] ?? ''
  const around = '  1 | package auth\n  2 |\n  3 | func Login(db DB, user string) {\n> 4 | \tdb.Query('
  expect(await print('findings', 'site', '--code', '--checkout', bare)).toContain(around)
  expect(await print('show', id, '--checkout', bare)).toContain(around)
  expect(await print('show', id, '--checkout', root)).toContain('auth/login.go:4 (Login)\n> \tdb.Query(')

  await svc('dismiss', id, '--reason', 'the input is a constant')
  expect(await print('show', id)).toContain(': the input is a constant')
  const log = JSON.parse(await print('export', 'site', '--sarif'))
  const commit = git(bare, ['rev-parse', 'main'])
  expect(log.runs[0].versionControlProvenance).toEqual([{ repositoryUri: repo, revisionId: commit, branch: 'main' }])
  expect(log.runs[0].results).toMatchObject([{ properties: { findingId: id }, suppressions: [{ kind: 'external' }] }])
  const refused = await svc('patch', id)
  expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining('reopen it first')])
  expect((await svc('reopen', id)).stderr).toContain(`finding ${id} open`)
  expect((await svc('validate', id)).stderr).toContain(`finding ${id} is being validated by task site-validation-`)
  const read = async () => JSON.parse(await print('show', id, '-o', 'json')) as Finding
  await waitFor(async () => (await read()).validationStatus === 'validated', 'the validation')
  expect(await print('patch', id)).toContain(`scan patches ${id}`)
  await waitFor(async () => (await print('patches', id)).includes('succeeded'), 'the patch')

  expect(await print('pr', id)).toMatch(/^http\S+\/acme\/site\/pull\/1 \(created\)\n$/)
  expect(await print('pr', id)).toMatch(/\/pull\/1 \(existing\)\n$/)
  const [pull] = (await codeHost.call('acme', 'GET', '/repos/acme/site/pulls')) as unknown as {
    body: string
    head: { ref: string }
  }[]
  expect(pull?.body).toContain('> with the patch: go test ./... ended with 0')
  expect(git(bare, ['show', `${pull?.head.ref}:${path}`])).toBe(mended.trim())
  expect((await read()).state).toBe('pr_open')

  expect((await svc('run', 'site', '--retry-failed')).stderr).toContain('left no slice to review')
  expect(await print('run', 'site')).toMatch(/^run scan_\w{12} started; /)
  expect((await svc('delete', 'site')).stderr).toContain('scan site deleted')
  expect((await svc('show', id)).stderr).toContain('finding not found')
})
