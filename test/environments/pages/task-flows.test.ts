// What people do with tasks from beginning to end, in a real browser: plans, usage, messages, copies, a log across a restart, and
// everything by keys.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, closePages, openBrowser, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { addTeams } from '../../fixtures/dashboard/samples/team.ts'
import { layShellAgent, leaveWorkspace, makeShellAgent } from '../../fixtures/dashboard/samples/workspaces.ts'
import {
  createTask,
  getTask,
  makeFolder,
  removeFolder,
  type Service,
  startService,
  waitForPhase,
} from '../../scenarios/service.ts'

const shell = (script: string, more: object = {}) => ({ type: 'container', command: ['sh', '-c', script], ...more })

describe.skipIf(chromiumPath === undefined)('people with tasks', () => {
  const folder = makeFolder()
  const agent = layShellAgent(folder)
  const flags = ['--allow-network', '127.0.0.0/8', ...agent.flags]
  let service: Service
  beforeAll(async () => {
    service = await startService({ folder, flags, env: agent.env })
    await addTeams(service)
  })
  afterAll(async () => {
    await closePages()
    await service.stop()
    removeFolder(folder)
  })

  it('read the plan of an agent, and what its model calls used', async () => {
    const { page, context, complaints } = await openDashboard(service)
    await page.goto('/tasks/default/read-pages?tab=plan')
    await page.getByText('Both pages are read.').waitFor()
    await page.getByRole('heading', { name: 'The plan' }).waitFor()
    await page.getByRole('progressbar', { name: 'Progress' }).waitFor()
    await page.getByText('The goal is reached').waitFor()
    await page.getByRole('link', { name: 'Usage' }).last().click()
    await page.getByRole('heading', { name: 'Used' }).waitFor()
    expect(await page.locator('main').textContent()).toMatch(/\d+ tokens|Tokens/)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('see who told whom what in a family', async () => {
    const { page, context } = await openDashboard(service)
    await page.goto('/tasks/default/read-pages?tab=family')
    const messages = page.getByRole('region', { name: 'Messages below read-pages' })
    await messages.getByText('I take the first page, and say what I find.').waitFor()
    const first = messages.getByRole('listitem').filter({ hasText: 'the first page' })
    await first.getByText('to all').waitFor()
    expect(await messages.getByRole('listitem').count()).toBe(2)
    await context.close()
  })

  it('copy a task, change it, and find it beside the other', async () => {
    await createTask(service, 'original', shell('echo original'))
    await waitForPhase(service, 'original', 'Succeeded')
    const { page, context } = await openDashboard(service)
    await page.goto('/tasks/default/original')
    await page.getByRole('button', { name: 'Clone' }).click()
    const text = page.getByRole('textbox', { name: 'Task' })
    await expect.poll(() => text.inputValue()).toContain('echo original')
    const copy = (await text.inputValue())
      .replace('echo original', 'echo a copy')
      .replace(/name: original-\S+/, 'name: the-copy')
    await text.fill(copy)
    await page.getByRole('button', { name: 'Create task' }).click()
    await page.getByRole('heading', { level: 1 }).getByText('the-copy').waitFor()
    await waitForPhase(service, 'the-copy', 'Succeeded')
    await page.getByRole('link', { name: 'Log' }).click()
    await page.getByRole('region', { name: 'Log' }).getByText('a copy').waitFor()
    await context.close()
  })

  it('go from signing in to a cancelled task by keys alone', async () => {
    await createTask(service, 'by-keys', shell('sleep 600'))
    const { page, context } = await openBrowser(service.url)
    await page.goto('/')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const focused = () => page.evaluate('document.activeElement.id + " " + document.activeElement.textContent')
    for (
      let count = 0;
      count < 5 && !(await page.getByLabel('Token').evaluate((one) => one.matches(':focus')));
      count += 1
    ) {
      await page.keyboard.press('Tab')
    }
    await page.keyboard.insertText(service.token)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'What are you looking for?' }).waitFor()
    await page.keyboard.type('by-keys')
    await page
      .getByRole('option', { name: /by-keys/ })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1 }).getByText('by-keys').waitFor()
    for (let count = 0; count < 60 && !/Cancel$/.test(String(await focused())); count += 1)
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: /^Cancel .*by-keys/ })
    await dialog.waitFor()
    for (let count = 0; count < 5 && !/Cancel the task$/.test(String(await focused())); count += 1) {
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.locator('.state-line').getByText('Cancelled').waitFor()
    expect((await getTask(service, 'by-keys')).status?.phase).toBe('Cancelled')
    await context.close()
  })

  it('release a workspace after a question, and may think better of it', async () => {
    await makeShellAgent(service)
    await leaveWorkspace(service, 'keeps-its-place')
    const { page, context } = await openDashboard(service)
    await page.goto('/workspaces')
    const row = page.getByRole('row').filter({ hasText: 'Retained' })
    await row.getByRole('button', { name: 'Release' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click()
    expect((await service.call<{ items: unknown[] }>('GET', '/api/v1/workspaces')).body.items).toHaveLength(1)
    await row.getByRole('button', { name: 'Release' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Release it' }).click()
    await page.getByText(/is released$/).waitFor()
    await row.waitFor({ state: 'detached' })
    await context.close()
  })

  it('go on reading a log after the service was away, without a line twice or none', async () => {
    const { port } = new URL(service.url)
    await createTask(service, 'keeps-talking', shell('for i in $(seq 1 12); do echo "line $i of it"; sleep 1; done'))
    const { page, context } = await openDashboard(service)
    await page.goto('/tasks/default/keeps-talking?tab=log')
    const log = page.getByRole('region', { name: 'Log' })
    await log.getByText('line 2 of it').waitFor()
    await service.kill()
    await page.getByText('Reconnecting', { exact: true }).waitFor()
    service = await startService({ folder, flags: [...flags, '--port', port], env: agent.env })
    await waitForPhase(service, 'keeps-talking', 'Succeeded')
    await log.getByText('line 12 of it').first().waitFor()
    const { body } = await service.call<string>('GET', '/api/v1/tasks/keeps-talking/logs')
    const stored = (typeof body === 'string' ? body : (body as { logs: string }).logs).trim().split('\n')
    const shown = () => log.locator('.log-line bdi').allTextContents()
    await expect.poll(shown).toEqual(stored)
    await context.close()
  })
})
