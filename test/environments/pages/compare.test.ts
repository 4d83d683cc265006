// Two runs beside each other, in a real browser: from the page of a task that was tried again, and from the list.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, type OpenedDashboard, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { createToken, useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { readText, type ScriptedVendor, startVendor } from '../../fixtures/llm/scripted-vendor.ts'
import { createTask, waitForPhase } from '../../scenarios/service.ts'

const shell = (script: string, more: object = {}) => ({ type: 'container', command: ['sh', '-c', script], ...more })

describe.skipIf(chromiumPath === undefined)('two runs beside each other', () => {
  const started = useService()
  let vendor: ScriptedVendor
  let opened: OpenedDashboard
  beforeAll(async () => {
    const { service } = started
    vendor = await startVendor(({ messages }) => {
      const asked = messages.map(({ content }) => readText(content)).join('\n')
      const isFirst = messages.every(({ role }) => role !== 'tool')
      if (asked.includes('with a tool') && isFirst)
        return [{ call: { name: 'code_exec', args: { language: 'bash', code: 'echo hi' } } }]
      return [{ text: asked.includes('with a tool') ? 'one\ntwo\nfour' : 'one\ntwo\nthree' }]
    })
    const price = { inputPerMillion: 1000, outputPerMillion: 2000, currency: 'USD' }
    const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'small-model', price }
    await service.call('POST', '/api/v1/providers', { name: 'default', spec })
    await service.call('POST', '/api/v1/agents', {
      name: 'coder',
      spec: { tools: [{ name: 'code_exec', enabled: true }] },
    })
    const ask = (prompt: string, more: object = {}) => ({ type: 'ai', ai: { prompt, ...more } })
    await createTask(service, 'plain', ask('Count.'))
    await createTask(service, 'tooled', {
      ...ask('Count.\nDo it with a tool.', { model: 'large-model' }),
      agentRef: { name: 'coder' },
    })
    for (const name of ['plain', 'tooled']) await waitForPhase(service, name, 'Succeeded')
    opened = await openDashboard(service)
  })
  afterEach(() => expect(opened.complaints.splice(0)).toEqual([]))
  afterAll(() => vendor.close())

  const fact = (name: string) => opened.page.getByRole('row', { name: new RegExp(`^${name}\\b`) })
  const part = (name: string) => opened.page.getByRole('region', { name, exact: true })

  it('are chosen in the list, and each difference is marked', async () => {
    const { page } = opened
    await page.goto('/tasks')
    for (const name of ['plain', 'tooled']) await page.getByRole('checkbox', { name: `Choose ${name}` }).check()
    await page.getByRole('link', { name: 'Compare' }).click()
    await page.getByRole('heading', { level: 1, name: 'Compare two runs' }).waitFor()
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ a: 'default/plain', b: 'default/tooled' })
    await fact('State').and(page.locator('[data-differs="false"]')).waitFor()
    await fact('Model').and(page.locator('[data-differs="true"]')).getByText('large-model').waitFor()
    await fact('Agent').getByRole('link', { name: 'coder' }).waitFor()
    await fact('Tool calls').waitFor()
    await fact('Cost').getByText(/%$/).waitFor()
    await part('Prompt').getByText('Do it with a tool.').waitFor()
    await part('Result').locator('[data-change="removed"]').getByText('three').waitFor()
    await part('Result').locator('[data-change="added"]').getByText('four').waitFor()
    await part('Settings').getByText('large-model').waitFor()
    const steps = part('Steps').getByRole('listitem')
    await steps.filter({ hasText: 'code_exec' }).getByText('only in the second').waitFor()
  })

  it('are told to be the same where they are', async () => {
    const { page } = opened
    await page.goto('/compare?a=default/plain&b=default/plain')
    await part('Prompt').getByText('The same in both').waitFor()
    await part('Steps').getByText('the same in both').waitFor()
    expect(await page.locator('.compare-facts [data-differs="true"]').count()).toBe(0)
    expect(await part('Settings').count()).toBe(0)
  })

  it('are a link on a task that was tried again, as it was or with changes', async () => {
    const { page } = opened
    const { service } = started
    await createTask(service, 'fails', shell('exit 3', { retryPolicy: { maxRetries: 0 } }))
    await waitForPhase(service, 'fails', 'Failed')
    await page.goto('/tasks/default/fails')
    await page.getByRole('button', { name: 'Retry', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'fails-retry-1' }).waitFor()
    await page.getByRole('link', { name: 'Compare with fails' }).waitFor()
    await page.goto('/tasks/default/fails')
    await page.getByRole('button', { name: 'Edit and retry' }).click()
    await page.getByRole('heading', { level: 1, name: 'Edit and retry fails' }).waitFor()
    const text = page.getByRole('textbox', { name: 'Task' })
    const changed = (await text.inputValue()).replace(/name: fails-\w+/, 'name: mended').replace('exit 3', 'exit 0')
    await text.fill(changed)
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByRole('heading', { level: 1, name: 'mended' }).waitFor()
    await waitForPhase(service, 'mended', 'Succeeded')
    await page.goto('/tasks/default/fails')
    await page.getByRole('link', { name: 'Compare with fails-retry-1' }).waitFor()
    await page.getByRole('link', { name: 'Compare with mended' }).click()
    await fact('State').getByText('Succeeded').waitFor()
    await fact('Cause').getByText('The command failed').waitFor()
    await part('Command').locator('[data-change="added"]').getByText('exit 0').waitFor()
    await page.getByRole('link', { name: 'Swap' }).click()
    await part('Command').locator('[data-change="removed"]').getByText('exit 0').waitFor()
  })

  it('are shown to whoever may read both, who is offered nothing else in the list', async () => {
    const token = await createToken(started.service, 'viewer')
    const { page, context } = await openDashboard({ url: started.service.url, token })
    await page.goto('/tasks')
    for (const name of ['plain', 'tooled']) await page.getByRole('checkbox', { name: `Choose ${name}` }).check()
    const bar = page.getByRole('region', { name: 'Chosen tasks' })
    await bar.getByText('2 tasks chosen').waitFor()
    expect(await bar.getByRole('button').allTextContents()).toEqual(['Choose all shown', 'Choose none'])
    await bar.getByRole('link', { name: 'Compare' }).click()
    await page.getByRole('row', { name: /^State/ }).waitFor()
    await context.close()
  })

  it('are to be chosen where the address names none, and say which one there is not', async () => {
    const { page } = opened
    await page.goto('/compare?a=nowhere')
    await page.getByText('Two tasks are to be chosen').waitFor()
    await page.goto('/compare?a=default/plain&b=default/gone')
    await page.getByRole('alert').getByText(/gone/).waitFor()
    // The browser tells of the answer 404.
    opened.complaints.splice(0)
  })
})
