// Overview, schedules and usage in a real browser, while things happen.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, lookAs, type OpenedDashboard, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { findOverlaps } from '../../fixtures/dashboard/overlaps.ts'
import { type ScriptedVendor, startVendor } from '../../fixtures/llm/scripted-vendor.ts'
import { createTask, getTask, waitForPhase } from '../../scenarios/service.ts'

const shell = (script: string, more: object = {}) => ({ type: 'container', command: ['sh', '-c', script], ...more })

describe.skipIf(chromiumPath === undefined)('what goes on', () => {
  const started = useService()
  let vendor: ScriptedVendor
  let opened: OpenedDashboard
  beforeAll(async () => {
    const { service } = started
    vendor = await startVendor(({ messages }) =>
      JSON.stringify(messages).includes('may I') && messages.every(({ role }) => role !== 'tool')
        ? [{ call: { name: 'request_approval', args: { message: 'May I remove the branch?' } } }]
        : [{ text: 'an answer' }],
    )
    const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'small-model' }
    await service.call('POST', '/api/v1/providers', { name: 'default', spec })
    await service.call('POST', '/api/v1/agents', { name: 'asker', spec: { coordination: { enabled: true } } })
    opened = await openDashboard(service)
  })
  afterEach(() => expect(opened.complaints.splice(0)).toEqual([]))
  afterAll(() => vendor.close())

  const button = (name: string) => opened.page.getByRole('button', { name, exact: true })

  it('is counted on the overview as it happens', async () => {
    const { page } = opened
    const { service } = started
    await page.goto('/')
    await page.getByText('Nothing is running').waitFor()
    await createTask(service, 'endless', shell('sleep 600'))
    await page.getByRole('region', { name: 'Running now' }).getByRole('link', { name: 'endless' }).waitFor()
    await page
      .getByRole('listitem')
      .filter({ hasText: /^Running1/ })
      .waitFor()
    await createTask(service, 'bad', shell('exit 3', { retryPolicy: { maxRetries: 0 } }))
    const causes = page.getByRole('region', { name: 'Why runs failed' })
    await causes.getByRole('link', { name: /The command failed without an agent 1/ }).waitFor()
    await causes.getByRole('link', { name: 'All failed tasks' }).waitFor()
    const chart = page.getByRole('figure', { name: /Runs that ended/ })
    await chart.locator('.chart-bar').first().waitFor()
    await chart.getByText('The numbers as a table').click()
    expect(await chart.getByRole('row').count()).toBe(15)
    expect(await page.evaluate('document.documentElement.scrollHeight - innerHeight')).toBe(0)
    await page.getByRole('region', { name: 'Providers' }).getByText('default').first().waitFor()
  })

  it('says first what waits for a person, each a link to it', async () => {
    const { page } = opened
    const { service } = started
    await service.call('PUT', '/api/v1/budgets/tight', { scope: {}, period: 'day', maxTokens: 0 })
    const spec = { type: 'llmo', baseURL: 'http://127.0.0.1:9/v1', defaultModel: 'm' }
    await service.call('POST', '/api/v1/providers', { name: 'away', spec })
    await page.goto('/')
    const needs = page.getByRole('region', { name: /^Needs you/ })
    await needs.getByRole('link', { name: /Provider away is/ }).waitFor()
    // On a telephone the reason stands beside what it is about, and not on it.
    await lookAs(page, { theme: 'light', width: 390, direction: 'ltr' })
    expect(await findOverlaps(page)).toEqual([])
    await lookAs(page, { theme: 'light', width: 1440, direction: 'ltr' })
    await needs.getByRole('link', { name: /Budget tight is used up/ }).click()
    await page.getByRole('heading', { level: 1, name: /tight/ }).waitFor()
    // Its page would ask once more for what is gone.
    await page.goto('/')
    await service.call('DELETE', '/api/v1/budgets/tight')
  })

  it('asks people on the overview, and takes their answer', async () => {
    const { page } = opened
    await createTask(started.service, 'asks', { type: 'ai', agentRef: { name: 'asker' }, ai: { prompt: 'may I' } })
    await page.goto('/')
    const question = page.getByRole('region', { name: 'asks asks: May I' })
    await question.getByText('May I remove the branch?').waitFor()
    await question.getByRole('button', { name: 'Allow' }).click()
    await question.waitFor({ state: 'detached' })
    await waitForPhase(started.service, 'asks', 'Succeeded')
  })

  it('runs, suspends and resumes schedules', async () => {
    const { page } = opened
    const { service } = started
    await createTask(service, 'nightly', shell('echo run', { schedule: '0 3 1 1 *' }))
    await page.goto('/schedules')
    const row = page.getByRole('row').filter({ hasText: 'nightly' })
    await row.getByRole('button', { name: 'Runs' }).click()
    await page.getByText('It has not run yet').waitFor()
    await row.getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('table', { name: 'Runs' }).getByText('Succeeded').waitFor()
    await row.getByRole('button', { name: 'Suspend' }).click()
    await row.getByText('suspended').waitFor()
    expect((await getTask(service, 'nightly')).spec.suspend).toBe(true)
    await button('Undo').click()
    await row.getByText('active').waitFor()
    expect((await getTask(service, 'nightly')).spec.suspend).toBe(false)
  })

  it('is summed up by whatever one asks for, with budgets', async () => {
    const { page } = opened
    const { service } = started
    await service.call('PUT', '/api/v1/budgets/all', { scope: {}, period: 'day', maxTokens: 1_000_000 })
    await createTask(service, 'spends', { type: 'ai', ai: { prompt: 'say something' } })
    await waitForPhase(service, 'spends', 'Succeeded')
    await page.goto('/usage?by=model')
    await page.getByRole('table', { name: 'Usage by model' }).getByText('small-model').waitFor()
    await page.getByRole('combobox', { name: 'By' }).selectOption('task')
    await page.getByRole('table', { name: 'Usage by task' }).getByText('default/spends').waitFor()
    expect(new URL(page.url()).searchParams.get('by')).toBe('task')
    await page
      .getByRole('region', { name: 'Budgets' })
      .getByText(/of 1,000,000 tokens/)
      .waitFor()
    await page.getByRole('figure', { name: 'Tokens by day' }).locator('.chart-bar').first().waitFor()
  })
})
