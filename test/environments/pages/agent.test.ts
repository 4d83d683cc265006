// The page of an agent in a real browser: what it did, and how to give it work or talk with it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, type OpenedDashboard, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { type ScriptedVendor, startVendor } from '../../fixtures/llm/scripted-vendor.ts'
import { createTask, waitForPhase } from '../../scenarios/service.ts'

describe.skipIf(chromiumPath === undefined)('the page of an agent', () => {
  const started = useService()
  let vendor: ScriptedVendor
  let opened: OpenedDashboard
  beforeAll(async () => {
    const { service } = started
    vendor = await startVendor(() => [{ text: 'an answer' }])
    const price = { inputPerMillion: 1000, outputPerMillion: 2000, currency: 'USD' }
    const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm', price }
    await service.call('POST', '/api/v1/providers', { name: 'default', spec })
    await service.call('POST', '/api/v1/agents', { name: 'writer', spec: {} })
    await createTask(service, 'letter', { type: 'ai', agentRef: { name: 'writer' }, ai: { prompt: 'write' } })
    await waitForPhase(service, 'letter', 'Succeeded')
    opened = await openDashboard(service)
  })
  afterEach(() => expect(opened.complaints.splice(0)).toEqual([]))
  afterAll(() => vendor.close())

  it('says what it did and what that cost, and leads to its runs', async () => {
    const { page } = opened
    await page.goto('/agents/default/writer')
    const sums = page.getByRole('region', { name: 'The last 30 days' })
    await sums.getByText('100 %').waitFor()
    await sums.getByText('0.04 USD').waitFor()
    await page.getByRole('region', { name: 'Last runs' }).getByRole('link', { name: 'letter' }).waitFor()
  })

  it('gives it work, and talks with it', async () => {
    const { page } = opened
    await page.goto('/agents/default/writer')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page
      .getByRole('textbox', { name: /^Prompt|asked|do/ })
      .first()
      .fill('write a letter')
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.locator('.state-line').getByRole('link', { name: 'writer' }).waitFor()
    await page.goto('/agents/default/writer')
    await page.getByRole('button', { name: 'Chat', exact: true }).click()
    await page.getByRole('button', { name: /^writer/ }).waitFor()
  })
})
