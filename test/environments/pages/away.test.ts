// The service is stopped, hung or upgraded while a page is open: the page says so in words and comes back by itself.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, closePages, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { createTask, makeFolder, removeFolder, type Service, startService } from '../../scenarios/service.ts'

const away = 'The service cannot be reached.'
const silent = 'The service does not answer.'

describe.skipIf(chromiumPath === undefined)('a page of a service that does not answer', () => {
  const folder = makeFolder()
  let service: Service
  beforeAll(async () => {
    service = await startService({ folder })
  })
  afterAll(async () => {
    await closePages()
    await service.stop()
    removeFolder(folder)
  })

  const restart = async () => {
    service = await startService({ folder, flags: ['--port', new URL(service.url).port] })
  }
  const open = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()

  it('draws its frame before it knows who is signed in', async () => {
    const { page, context } = await openDashboard(service)
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/auth/whoami', async (route) => {
      await released
      await route.continue()
    })
    await page.goto('/tasks')
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Tasks' }).waitFor()
    await page.getByRole('status', { name: 'Loading the page' }).waitFor()
    expect(await page.getByRole('link', { name: 'Tokens' }).count()).toBe(0)
    release()
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Tokens' }).waitFor()
    await context.close()
  })

  it('shows a bar while the next page is loaded', async () => {
    const { page, context } = await openDashboard(service)
    await settle(page)
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/assets/task-list-page*', async (route) => {
      await released
      await route.continue()
    })
    await open(page, 'Tasks')
    await page.getByRole('progressbar', { name: 'Loading the page' }).waitFor()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    release()
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor()
    await page.getByRole('progressbar').waitFor({ state: 'detached' })
    await context.close()
  })

  it('says in words that a page cannot be loaded from a service that is stopped, and shows it when that is back', async () => {
    const { page, context } = await openDashboard(service)
    await page.getByText('Live', { exact: true }).waitFor()
    await service.kill()
    await page.getByText(away).waitFor()
    await open(page, 'Memories')
    await page.getByRole('alert').getByText('This page could not be loaded').waitFor()
    expect(await page.locator('body').textContent()).not.toMatch(/fetch|import|module/i)
    await restart()
    await page.getByRole('heading', { name: 'Memories' }).waitFor()
    await page.getByText(away).waitFor({ state: 'detached' })
    await context.close()
  })

  it('reads again what failed meanwhile', async () => {
    const { page, context } = await openDashboard(service)
    await page.goto('/tasks')
    await page.getByText('Live', { exact: true }).waitFor()
    await service.kill()
    await page.getByText(away).waitFor()
    await page.getByLabel('State').selectOption('Succeeded')
    await page.getByRole('alert').waitFor()
    await restart()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.getByText(away).waitFor({ state: 'detached' })
    await context.close()
  })

  it('says that a service hangs, until it answers again', async () => {
    const { page, context } = await openDashboard(service)
    await page.goto('/tasks')
    await settle(page)
    service.process.kill('SIGSTOP')
    await open(page, 'Usage')
    await page.getByText(silent).waitFor()
    service.process.kill('SIGCONT')
    await page.getByText(silent).waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    await settle(page)
    expect(await page.getByRole('alert').count()).toBe(0)
    await context.close()
  })

  it('loads a page anew whose files have other names since an upgrade, and offers that to the others', async () => {
    const { page, context } = await openDashboard(service)
    await page.goto('/tasks')
    await page.getByText('Live', { exact: true }).waitFor()
    await page.route('**/', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({
        response: answer,
        body: (await answer.text()).replace(/\/assets\/index-[\w-]+\.js/, '/assets/index-other.js'),
      })
    })
    await service.kill()
    await page.getByText(away).waitFor()
    await restart()
    await page.getByText('The service was upgraded.').waitFor()
    await page.route('**/assets/skill-list-page*', (route) => route.fulfill({ status: 404 }))
    const loaded = page.waitForEvent('load')
    await open(page, 'Skills')
    await page.unroute('**/assets/skill-list-page*')
    await loaded
    await page.getByRole('heading', { name: 'Skills' }).waitFor()
    await context.close()
  })

  it('goes by the time of the service, whatever the clock of the browser says', async () => {
    const { page, context } = await openDashboard(service)
    for (const ms of [-3_600_000, 3_600_000]) {
      await page.clock.setSystemTime(Date.now() + ms)
      const name = ms < 0 ? 'clock-behind' : 'clock-before'
      await createTask(service, name, { type: 'container', command: ['true'] })
      await page.goto('/tasks')
      await page
        .getByRole('row', { name: new RegExp(name) })
        .getByText('just now')
        .waitFor()
    }
    await context.close()
  })
})
