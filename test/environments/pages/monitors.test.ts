// Monitors in a real browser, at a code host with real commits: what is looked at, what is not and why.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RepositoryMonitor } from '../../../src/contract/kinds/monitors/repository-monitor.ts'
import { hasOpenssl } from '../../fixtures/certificates.ts'
import { type CodeHostStand, openCodeHostStand } from '../../fixtures/codehost/stand.ts'
import { chromiumPath, closePages, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { make } from '../../fixtures/dashboard/samples/make.ts'
import { makeReviewer } from '../../fixtures/dashboard/samples/monitors.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

describe.skipIf(chromiumPath === undefined || !hasOpenssl)('monitors', () => {
  let stand: CodeHostStand
  let service: Service
  let page: Page
  beforeAll(async () => {
    stand = await openCodeHostStand({ entries: { 'README.md': '# Site\n' } })
    service = await startService({ flags: stand.flags, env: stand.env })
    await make(service, '/api/v1/secrets', { name: 'login', stringData: { token: stand.codeHost.tokenOf('writer') } })
    await makeReviewer(service)
    await stand.openPull({ title: 'Not done yet', draft: true, entries: { 'a.md': 'a\n' } })
    page = (await openDashboard(service)).page
    page.setDefaultTimeout(60_000)
  })
  afterAll(async () => {
    await closePages()
    await service.stop()
    await stand.close()
    removeFolder(service.folder)
  })

  const read = async () => (await service.call<RepositoryMonitor>('GET', '/api/v1/monitors/repositories/reviews')).body

  it('are made by a form, run by hand, and say why a pull request is not reviewed', async () => {
    await page.goto('/monitors')
    await page.getByRole('link', { name: 'Create monitor' }).first().click()
    await page.getByLabel('name (required)', { exact: true }).first().fill('reviews')
    await page.getByLabel('repoURL (required)').fill(stand.url)
    await page.getByRole('group', { name: 'reviewer' }).last().getByLabel('name (required)').fill('reviewer')
    await page.getByRole('button', { name: 'gitSecretRef', exact: true }).click()
    await page.getByRole('group', { name: 'gitSecretRef' }).last().getByLabel('name (required)').fill('login')
    await page.getByRole('button', { name: 'Create the monitor' }).click()
    await page.getByRole('heading', { name: 'reviews', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByText('Not done yet').waitFor()
    await page.getByText('It is a draft. Mark it as ready for review').waitFor()
  })

  it('open a pull request beside the list, and by its address', async () => {
    await page.goto('/monitors/default/reviews')
    const table = page.getByRole('table', { name: 'Pull requests' })
    const panel = page.getByRole('complementary', { name: 'Pull request 1' })
    await table.getByRole('cell', { name: 'not reviewed' }).click()
    await panel.getByText('It is a draft. Mark it as ready for review').waitFor()
    await panel.getByText('Nothing was reviewed yet').waitFor()
    expect(await table.getByRole('row', { name: /Not done yet/ }).getAttribute('aria-current')).toBe('true')
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('')
    await table.focus()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await panel.getByRole('button', { name: 'Review now' }).waitFor()
    await page.setViewportSize({ width: 390, height: 844 })
    await page.reload()
    await panel.waitFor()
    expect(await table.isVisible()).toBe(false)
    await panel.getByRole('button', { name: /Back to the list/ }).click()
    await table.waitFor()
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  it('tell of their runs and events', async () => {
    await page.goto('/monitors/default/reviews?tab=runs')
    await page.getByRole('table', { name: 'Runs' }).getByText('succeeded').first().waitFor()
    await page.goto('/monitors/default/reviews?tab=events')
    await page.getByRole('table', { name: 'Events' }).getByText('#1').first().waitFor()
  })

  it('rest and go on', async () => {
    await page.goto('/monitors/default/reviews')
    await page.getByRole('button', { name: 'Suspend' }).click()
    await page.getByRole('button', { name: 'Go on' }).waitFor()
    expect((await read()).spec.suspend).toBe(true)
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('button', { name: 'Suspend' }).waitFor()
    expect((await read()).spec.suspend).toBe(false)
  })
})
