// What a person who opens the dashboard wants to know first is answered from the overview, each with fewer than three clicks.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ScanRun } from '../../../src/contract/api/scans/runs.ts'
import { chromiumPath, type OpenedDashboard, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { make } from '../../fixtures/dashboard/samples/make.ts'
import { addCommit, git } from '../../fixtures/git/repository.ts'
import { type GitServer, startGitServer } from '../../fixtures/git/server.ts'
import {
  readText,
  type ScriptedVendor,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from '../../fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../../fixtures/time.ts'
import { report, say, shop } from '../../scenarios/scan-stand.ts'
import { createTask, removeFolder, type Service, waitForPhase } from '../../scenarios/service.ts'

/** Of the two weaknesses one is worse. */
function review(prompt: string): VendorAnswer {
  const sliceId = /Review slice (slice_\w+)/.exec(prompt)?.[1]
  if (sliceId === undefined) return say('# Threat model\n\nCallers of the shop.')
  const paths = Object.keys(shop).filter((path) => path.endsWith('.go') && prompt.includes(`file "${path}" (owned`))
  const found = report(sliceId, paths)
  const findings = found.findings.map((one) => (one.title.includes('auth/') ? { ...one, severity: 'critical' } : one))
  return say({ ...found, findings })
}

function answer({ messages }: VendorRequest): VendorAnswer {
  const prompt = readText(messages.findLast(({ role }) => role === 'user')?.content)
  const isFirst = messages.every(({ role }) => role !== 'tool')
  if (prompt.includes('write a note')) {
    return isFirst
      ? [{ call: { name: 'file_write', args: { path: '/workspace/src/note.txt', content: 'a note\n' } } }]
      : [{ text: 'It is written.' }]
  }
  if (prompt.includes('may I'))
    return isFirst
      ? [{ call: { name: 'request_approval', args: { message: 'May I remove the branch?' } } }]
      : [{ text: 'removed' }]
  return review(prompt)
}

async function fill(service: Service, vendorUrl: string, remote: string): Promise<void> {
  const provider = (name: string, inputPerMillion: number) => {
    const price = { inputPerMillion, outputPerMillion: inputPerMillion, currency: 'USD' }
    return make(service, '/api/v1/providers', {
      name,
      spec: { type: 'llmo', baseURL: vendorUrl, defaultModel: name, price },
    })
  }
  await provider('cheap', 1)
  await provider('dear', 100_000)
  const agent = (name: string, spec: object) => make(service, '/api/v1/agents', { name, spec })
  await agent('auditor', { providerRef: { name: 'cheap' } })
  await agent('asker', { providerRef: { name: 'cheap' }, coordination: { enabled: true } })
  await agent('writer', { providerRef: { name: 'dear' }, tools: [{ name: 'file_write', enabled: true }] })
  const scans = '/api/v1/security/repositories'
  const spec = { repoURL: `${remote}/shop.git`, analysisAgentRef: { name: 'auditor' }, validationMode: 'off' }
  await make(service, scans, { name: 'shop', spec })
  await waitFor(async () => {
    const { body } = await service.call<{ items: ScanRun[] }>('GET', `${scans}/shop/scans`)
    return body.items[0]?.completedAt !== undefined
  }, 'the scan to end')
  const ai = (name: string, prompt: string, more: object = {}) => ({
    type: 'ai',
    agentRef: { name },
    ai: { prompt },
    ...more,
  })
  await createTask(service, 'writes', ai('writer', 'write a note', { workspace: { gitRepo: `${remote}/shop.git` } }))
  await waitForPhase(service, 'writes', 'Succeeded')
  const command = ['sh', '-c', 'echo no such target; exit 3']
  await createTask(service, 'breaks', { type: 'container', command, retryPolicy: { maxRetries: 0 } })
  await waitForPhase(service, 'breaks', 'Failed')
  await createTask(service, 'asks', ai('asker', 'may I'))
  await waitFor(async () => {
    const { body } = await service.call<{ items: unknown[] }>('GET', '/api/v1/approvals?status=pending')
    return body.items.length === 1
  }, 'the task to ask')
}

describe.skipIf(chromiumPath === undefined)('from the overview', () => {
  const started = useService({ flags: ['--allow-network', '127.0.0.0/8'] })
  const root = mkdtempSync(join(tmpdir(), 'svc-questions-'))
  let server: GitServer
  let vendor: ScriptedVendor
  let opened: OpenedDashboard
  let page: Page
  let clicks = 0
  beforeAll(async () => {
    git(root, ['init', '-q', '--bare', '-b', 'main', 'shop.git'])
    addCommit(join(root, 'shop.git'), 'main', shop)
    server = await startGitServer({ root })
    vendor = await startVendor(answer)
    await fill(started.service, vendor.url, server.origin)
    opened = await openDashboard(started.service)
    page = opened.page
  }, 120_000)
  beforeEach(async () => {
    clicks = 0
    await page.goto('/')
    await settle(page)
  })
  afterEach(() => {
    expect(clicks).toBeLessThan(3)
    expect(opened.complaints.splice(0)).toEqual([])
  })
  afterAll(async () => {
    await vendor.close()
    await server.stop()
    removeFolder(root)
  })

  async function click(what: Locator): Promise<void> {
    clicks++
    await what.click()
  }
  const card = (name: string | RegExp) => page.getByRole('region', { name })

  it('which agent cost most this week?', async () => {
    const first = card(/^Cost by agent/)
      .locator('tbody tr')
      .first()
    await first.getByRole('link', { name: 'writer' }).waitFor()
    await first.getByText(/\d USD$/).waitFor()
  })

  it('why did the last failed task fail?', async () => {
    const failed = card('Last runs').getByRole('listitem').filter({ hasText: 'Failed' })
    await click(failed.first().getByRole('link'))
    const cause = page.getByRole('region', { name: 'The command failed' })
    await cause.getByText(/exit code 3/).waitFor()
    await cause.getByText('no such target').waitFor()
  })

  it('the same, where it failed before many others', async () => {
    await click(card(/^Why runs failed/).getByRole('link', { name: 'All failed tasks' }))
    await click(page.getByRole('table', { name: 'Tasks' }).getByRole('link').first())
    await page.getByRole('region', { name: 'The command failed' }).waitFor()
  })

  it('what did the agent change?', async () => {
    await click(card('Last runs').getByRole('link', { name: 'writes' }))
    await click(page.getByRole('link', { name: /^Changes/ }))
    await page.getByRole('region', { name: 'Lines of src/note.txt' }).getByText('a note').waitFor()
  })

  it('what waits for me?', async () => {
    await page.getByRole('region', { name: 'asks asks: May I' }).getByText('May I remove the branch?').waitFor()
    await card(/^Needs you/)
      .getByRole('link', { name: /1 critical finding in shop/ })
      .waitFor()
  })

  it('which finding first?', async () => {
    await click(card(/^Needs you/).getByRole('link', { name: /critical finding/ }))
    await page.getByRole('article', { name: 'SQL injection in auth/login.go' }).waitFor()
  })
})
