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

  it('has the versions of what it told its model, with what differs and how their runs went', async () => {
    const { page } = opened
    const { service } = started
    const path = '/api/v1/agents/teller'
    const specOf = (inline: string, more: object = {}) => ({ spec: { systemPrompt: { inline }, ...more } })
    const versionsOf = async () => (await service.call<{ items: unknown[] }>('GET', `${path}/versions`)).body.items
    await service.call('POST', '/api/v1/agents', { name: 'teller', ...specOf('Tell a story.\nBe brief.') })
    await createTask(service, 'story', { type: 'ai', agentRef: { name: 'teller' }, ai: { prompt: 'tell' } })
    await waitForPhase(service, 'story', 'Succeeded')
    await expect.poll(async () => (await versionsOf()).length).toBe(1)
    await page.goto('/agents/default/teller')
    await page.getByRole('link', { name: 'Versions' }).click()
    await page.getByText('Tell a story.').waitFor()
    await service.call('PUT', path, specOf('Tell a story.\nBe funny.', { model: { name: 'other' } }))
    const rows = page.getByRole('table', { name: 'Versions' }).getByRole('row')
    await rows.filter({ hasText: /^2\s*prompt, model/ }).waitFor()
    await rows.filter({ hasText: '100 %' }).waitFor()
    const part = (name: string) => page.getByRole('region', { name, exact: true })
    await part('Prompt').locator('[data-change="removed"]').getByText('Be brief.').waitFor()
    await part('Prompt').locator('[data-change="added"]').getByText('funny').waitFor()
    await part('Settings').getByText('other').waitFor()
    await page.getByLabel('From', { exact: true }).selectOption('2')
    await page.getByLabel('To', { exact: true }).selectOption('1')
    await part('Prompt').locator('[data-change="added"]').getByText('brief').waitFor()
    expect(new URL(page.url()).search).toContain('from=2')
    await createTask(service, 'joke', { type: 'ai', agentRef: { name: 'teller' }, ai: { prompt: 'tell' } })
    await waitForPhase(service, 'joke', 'Succeeded')
    await page.goto('/compare?a=default/story&b=default/joke')
    const fact = page.getByRole('row', { name: /^Version/ }).and(page.locator('[data-differs="true"]'))
    await fact.getByRole('link', { name: '2' }).waitFor()
    await part('Prompt of the agent').locator('[data-change="added"]').getByText('funny').waitFor()
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
