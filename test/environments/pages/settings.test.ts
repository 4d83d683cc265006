// Settings of the service with their sources, in a real browser.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, closePages, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { make } from '../../fixtures/dashboard/samples/make.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

let service: Service

describe.skipIf(chromiumPath === undefined)('settings', () => {
  beforeAll(async () => {
    service = await startService({ flags: ['--chat-max-iterations', '7'], env: { SVC_CHAT_TOOL_TIMEOUT: '42s' } })
  })
  afterAll(async () => {
    await closePages()
    await service.stop()
    removeFolder(service.folder)
  })

  it('shows each with its value and where that came from, and finds them by words and by source', async () => {
    const { page, context } = await openDashboard(service)
    await page.goto('/settings')
    const one = (flag: string) => page.locator('.setting').filter({ has: page.getByText(flag, { exact: true }) })
    await one('--chat-max-iterations').getByText('7', { exact: true }).waitFor()
    await one('--chat-max-iterations').getByText('flag', { exact: true }).waitFor()
    await one('--chat-tool-timeout').getByText('environment', { exact: true }).waitFor()
    await one('--chat-max-duration').getByText('default', { exact: true }).waitFor()
    const all = await page.locator('.setting').count()
    await page.getByLabel('Set by').selectOption('environment')
    await expect.poll(() => page.locator('.setting').count()).toBeLessThan(all)
    await one('--chat-tool-timeout').waitFor()
    expect(await one('--chat-max-iterations').count()).toBe(0)
    await page.getByLabel('Search in settings').fill('no such words')
    await page.getByText('No setting matches').waitFor()
    await context.close()
  })

  it('keeps them from whoever does not own the service', async () => {
    const { token } = await make<{ token: string }>(service, '/api/v1/tokens', { name: 'editor', role: 'editor' })
    const { page, context } = await openDashboard({ url: service.url, token })
    await page.goto('/settings')
    await page
      .getByRole('alert')
      .getByText(/Ask whoever runs this service/)
      .waitFor()
    await context.close()
  })
})
