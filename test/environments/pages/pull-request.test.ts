// From a finding, or the branch of a task, to its pull request in a real browser, at a code host with real commits.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Finding } from '../../../src/contract/api/scans/findings.ts'
import { hasOpenssl } from '../../fixtures/certificates.ts'
import { chromiumPath, closePages, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { openSite, type Site } from '../../fixtures/scans/site.ts'
import { waitFor } from '../../fixtures/time.ts'
import { createTask, waitForPhase } from '../../scenarios/service.ts'

const base = '/api/v1/security'

describe.skipIf(chromiumPath === undefined || !hasOpenssl)('a pull request', () => {
  let site: Site
  let page: Page
  beforeAll(async () => {
    site = await openSite()
    const reference = { analysisAgentRef: { name: 'auditor' }, gitSecretRef: { name: 'forge' } }
    const spec = { repoURL: site.repo, ...reference, validationMode: 'off' }
    await site.service.call('POST', `${base}/repositories`, { name: 'site', spec })
    await waitFor(async () => (await findings()).length === 1, 'the finding')
    page = (await openDashboard(site.service)).page
    page.setDefaultTimeout(60_000)
  })
  afterAll(async () => {
    await closePages()
    await site.close()
  })

  const findings = async () =>
    (await site.service.call<{ items: Finding[] }>('GET', `${base}/repositories/site/findings`)).body.items ?? []

  it('of a finding that is fixed shows the change first, and is opened by a key', async () => {
    await page.goto('/scans/default/site')
    const finding = page.getByRole('article', { name: 'SQL injection in Login' })
    await finding.waitFor()
    expect(await page.getByRole('button', { name: 'Open pull request' }).count()).toBe(0)
    await page.keyboard.press('f')
    await finding.getByText('patch ready').waitFor()
    await finding.locator('.diff-line[data-change="added"]').getByText('where name = ?').waitFor()
    await page.keyboard.press('p')
    const link = finding.getByRole('link', { name: /\/pull\/\d+/ }).first()
    await link.waitFor()
    const [found] = await findings()
    expect(found).toMatchObject({ state: 'pr_open', prState: 'open' })
    expect(await link.getAttribute('href')).toBe(found?.prURL)
  })

  it('of a finding says where its diff is once the task that wrote it is deleted', async () => {
    const { body } = await site.service.call<{ items: { metadata: { name: string } }[] }>(
      'GET',
      '/api/v1/tasks?labelSelector=svc.ai/security-stage=patch',
    )
    for (const { metadata } of body.items) await site.service.call('DELETE', `/api/v1/tasks/${metadata.name}`)
    await page.goto('/scans/default/site')
    await page.getByText('Its task was deleted, and the diff with it.').waitFor()
  })

  it('is opened for the branch of a task, at its result', async () => {
    const workspace = { gitRepo: site.repo, gitSecretRef: { name: 'forge' }, pushBranch: 'svc/by-task' }
    const spec = { type: 'container', command: ['sh', '-c', 'echo fixed > fixed.txt'], workspace }
    await createTask(site.service, 'by-task', spec)
    await waitForPhase(site.service, 'by-task', 'Succeeded')
    await page.goto('/tasks/default/by-task?tab=result')
    await page.getByRole('heading', { name: 'In the repository' }).waitFor()
    // It has said nothing.
    expect(await page.getByRole('region', { name: 'What it says it did' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Open pull request' }).click()
    const link = page.getByRole('link', { name: /\/pull\/\d+/ })
    await link.waitFor()
    const { body } = await site.service.call<{ prURL: string }>('POST', '/api/v1/tasks/by-task/pull-request')
    expect(body).toMatchObject({ prURL: await link.getAttribute('href'), status: 'existing' })
  })
})
