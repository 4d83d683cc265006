// What a task did, step by step, in a real browser: as it happens, opened, folded, of ten thousand steps; and what to do when it failed.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, type OpenedDashboard, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { answerSteps } from '../../fixtures/dashboard/many-steps.ts'
import { readText, type ScriptedVendor, startVendor, type VendorRequest } from '../../fixtures/llm/scripted-vendor.ts'
import { createTask, waitForPhase } from '../../scenarios/service.ts'

const shell = (script: string, more: object = {}) => ({ type: 'container', command: ['sh', '-c', script], ...more })

/** A call of a tool, and then an answer, which waits until the test lets it go. */
function createScript() {
  const go = Promise.withResolvers<void>()
  function answer({ messages }: VendorRequest) {
    const asked = messages.map(({ content }) => readText(content)).join('\n')
    if (asked.includes('Why did the task')) return [{ text: 'The target is **misspelt**.' }]
    if (messages.every(({ role }) => role !== 'tool'))
      return [{ call: { name: 'code_exec', args: { language: 'bash', code: 'echo from the tool' } } }]
    return [...(asked.includes('wait') ? [{ wait: go.promise }] : []), { text: '# Done\n\n- one\n- two' }]
  }
  return { answer, go: () => go.resolve() }
}

describe.skipIf(chromiumPath === undefined)('the steps of a task', () => {
  const started = useService()
  const script = createScript()
  let vendor: ScriptedVendor
  let opened: OpenedDashboard
  beforeAll(async () => {
    const { service } = started
    vendor = await startVendor(script.answer)
    const price = { inputPerMillion: 1000, outputPerMillion: 2000, currency: 'USD' }
    const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'small-model', price }
    await service.call('POST', '/api/v1/providers', { name: 'default', spec })
    await service.call('POST', '/api/v1/agents', {
      name: 'coder',
      spec: { tools: [{ name: 'code_exec', enabled: true }] },
    })
    opened = await openDashboard(service)
  })
  // A refused request is told on the console by the browser itself.
  const isOwn = (text: string) => !text.startsWith('Failed to load resource')
  afterEach(() => expect(opened.complaints.splice(0).filter(isOwn)).toEqual([]))
  afterAll(() => vendor.close())

  const tree = () => opened.page.getByRole('treegrid', { name: 'Steps' })
  const line = (text: string | RegExp) => tree().locator('.trace-line').filter({ hasText: text }).first()

  it('come while the task runs, and each opens', async () => {
    const { page } = opened
    await createTask(started.service, 'steps', {
      type: 'ai',
      agentRef: { name: 'coder' },
      ai: { prompt: 'run it and wait' },
    })
    await page.goto('/tasks/default/steps')
    await line('code_exec').waitFor()
    // The second call of the model has begun and not ended.
    await expect.poll(() => tree().locator('.trace-bar[data-tone="model"][data-runs="true"]').count()).toBe(1)
    script.go()
    await waitForPhase(started.service, 'steps', 'Succeeded')
    await page.locator('.state-line').getByText('Succeeded').waitFor()
    await expect.poll(() => tree().locator('.trace-bar[data-runs="true"]').count()).toBe(0)
    const state = page.locator('.state-line')
    for (const words of ['coder', 'small-model', /Cost\s*0\.08 USD/, /Tokens\s*\d/, /Attempt\s*1/])
      await state.getByText(words).first().waitFor()
    await page.getByRole('region', { name: 'Text of the result' }).getByRole('heading', { name: 'Done' }).waitFor()
    await line('code_exec').click()
    await tree().getByRole('region', { name: 'Arguments' }).getByText('"code": "echo from the tool"').waitFor()
    await tree().getByRole('region', { name: 'Result' }).getByText('from the tool').waitFor()
    await line(/model call/).click()
    await tree().getByText('Finish reason').waitFor()
  })

  it('has tabs only for what there is, with how much of it', async () => {
    const { page } = opened
    await createTask(
      started.service,
      'plain',
      shell('echo done; echo x > $SVC_ARTIFACTS_DIR/a.txt', { artifactsDir: '/workspace/out' }),
    )
    await waitForPhase(started.service, 'plain', 'Succeeded')
    await page.goto('/tasks/default/plain')
    const tabs = page.getByRole('navigation', { name: 'Parts of the task' }).getByRole('link')
    await expect.poll(() => tabs.allTextContents()).toEqual(['Steps', 'Log', 'Result', 'Files1', 'YAML'])
  })

  it('say why it failed, with the last lines of its log, and what can be done', async () => {
    const { page } = opened
    const { service } = started
    await createTask(
      service,
      'fails',
      shell('seq 1 30; echo no such target; exit 3', { retryPolicy: { maxRetries: 0 } }),
    )
    await waitForPhase(service, 'fails', 'Failed')
    await page.goto('/tasks/default/fails')
    const panel = page.getByRole('region', { name: 'The command failed' })
    await panel.getByText(/exit code 3/).waitFor()
    const lines = panel.getByRole('region', { name: 'Last lines of the log' })
    await lines.getByText('no such target').waitFor()
    expect(await lines.locator('bdi').count()).toBe(20)
    await panel.getByRole('button', { name: 'Edit and retry' }).click()
    await expect.poll(() => page.getByRole('textbox', { name: 'Task' }).inputValue()).toContain('no such target')
    await page.goto('/tasks/default/fails')
    await panel.getByRole('button', { name: 'Ask why' }).click()
    const said = page.getByRole('log', { name: 'What was said' })
    await said.getByText(/Why did the task default\/fails fail/).waitFor()
    await said
      .getByText(/no such target/)
      .first()
      .waitFor()
    await said.getByText('misspelt').waitFor()
    // It is asked once, however often the page is loaded.
    const before = vendor.requests.length
    await page.reload()
    await said.getByText('misspelt').waitFor()
    expect(vendor.requests.length).toBe(before)
  })

  it('has few of ten thousand in the page, and is walked and folded by keys', async () => {
    const { page } = opened
    await answerSteps(page, 'plain', 10_000)
    await page.goto('/tasks/default/plain')
    await page.getByRole('link', { name: /^Steps\s*10,000$/ }).waitFor()
    const lines = tree().locator('.trace-line')
    await line('Attempt 1').waitFor()
    expect(await lines.count()).toBeLessThan(90)
    await tree().focus()
    await page.keyboard.press('End')
    await line('Succeeded').waitFor()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    await line('tool-9999').waitFor()
    expect(await lines.count()).toBeLessThan(90)
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => tree().getAttribute('aria-rowcount')).toBe('4')
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => tree().getAttribute('aria-rowcount')).toBe('10003')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })
})
