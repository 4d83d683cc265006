// Budgets in a real browser: made, shown as they are spent, changed and deleted; and the alert that the browser shows.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, type OpenedDashboard, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { type ScriptedVendor, startVendor } from '../../fixtures/llm/scripted-vendor.ts'
import { createTask, waitForPhase } from '../../scenarios/service.ts'

type Notices = { shown?: string[] }

describe.skipIf(chromiumPath === undefined)('budgets', () => {
  const started = useService()
  let vendor: ScriptedVendor
  let opened: OpenedDashboard
  beforeAll(async () => {
    vendor = await startVendor(() => [{ text: 'an answer' }])
    const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'gpt-4o' }
    await started.service.call('POST', '/api/v1/providers', { name: 'default', spec })
    await createTask(started.service, 'spends', { type: 'ai', ai: { prompt: 'say something' } })
    await waitForPhase(started.service, 'spends', 'Succeeded')
    opened = await openDashboard(started.service)
    await opened.page.addInitScript(() => {
      const notices = globalThis as unknown as Notices
      notices.shown = []
      class Shown {
        static permission = 'granted'
        constructor(title: string, { body }: { body: string }) {
          notices.shown?.push(`${title}: ${body}`)
        }
      }
      Object.assign(globalThis, { Notification: Shown })
    })
  })
  afterEach(() => expect(opened.complaints.splice(0)).toEqual([]))
  afterAll(() => vendor.close())

  it('are made by a form, shown as they are spent, and deleted', async () => {
    const { page } = opened
    await page.goto('/budgets')
    await page.getByText('There are no budgets yet').waitFor()
    await page.getByRole('link', { name: 'New budget' }).click()
    await page.getByRole('textbox', { name: 'Name (required)' }).fill('tight')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('alert').getByText('or maxCost').first().waitFor()
    opened.complaints.splice(0)
    await page.getByRole('textbox', { name: 'Tokens', exact: true }).fill('1')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'tight' }).getByText('used up').waitFor()
    await page.waitForFunction(() =>
      (globalThis as unknown as Notices).shown?.includes('Budget: the budget "tight" of this month is used up'),
    )
    await page.goto('/budgets')
    await page.getByRole('table', { name: 'Budgets' }).getByText('used up').waitFor()
    await page.getByRole('link', { name: 'tight' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the budget' }).click()
    await page.getByText('There are no budgets yet').waitFor()
  })

  it('stand beside the costs of known models, by day, with share, total, forecast and a download', async () => {
    const { page } = opened
    await page.goto('/usage?by=model&period=7d')
    await page.getByRole('figure', { name: 'Cost by day, in USD' }).locator('.chart-bar').first().waitFor()
    await page.getByText('At the end of the month').waitFor()
    const table = page.getByRole('table', { name: 'Usage by model' })
    await table.getByText('100.0 %').waitFor()
    await table.getByText('Total').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('usage-by-model.csv')
    await page.goto('/usage?period=custom&from=2026-02-30&to=2026-03-01')
    await page.getByText('Which days?').waitFor()
  })
})
