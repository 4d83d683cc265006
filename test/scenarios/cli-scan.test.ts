// `svc scan`: from a repository to the pull request that repairs what was found, on the real program, its worker and a code host.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Finding } from '../../src/contract/api/scans/findings.ts'
import { hasOpenssl } from '../fixtures/certificates.ts'
import { git } from '../fixtures/git/repository.ts'
import { loginPath, mendedLogin, openSite, type Site } from '../fixtures/scans/site.ts'
import { waitFor } from '../fixtures/time.ts'
import { runSvc } from './service.ts'

let site: Site
beforeAll(async () => {
  if (hasOpenssl) site = await openSite()
})
afterAll(() => site?.close())

const svc = (...args: string[]) => runSvc(['scan', ...args], site.service.env)
const print = async (...args: string[]) => {
  const { stdout, stderr, code } = await svc(...args)
  expect([code, stderr]).toEqual([0, expect.any(String)])
  return stdout
}

it.runIf(hasOpenssl)('goes from a repository to the pull request that repairs it [FIND-017]', async () => {
  const { repo, bare, codeHost } = site
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
  expect(await print('show', id, '--checkout', '/')).toContain('auth/login.go:4 (Login)\n> \tdb.Query(')

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
  expect(pull?.body).toContain('> no tests: the scan names none in spec.tests')
  expect(git(bare, ['show', `${pull?.head.ref}:${loginPath}`])).toBe(mendedLogin.trim())
  expect((await read()).state).toBe('pr_open')

  expect((await svc('run', 'site', '--retry-failed')).stderr).toContain('left no slice to review')
  expect(await print('run', 'site')).toMatch(/^run scan_\w{12} started; /)
  expect((await svc('delete', 'site')).stderr).toContain('scan site deleted')
  expect((await svc('show', id)).stderr).toContain('finding not found')
})
