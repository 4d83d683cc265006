// What the page shows is kept true by its one stream: without reloading, without asking again, over a restart of the service.
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openBeatingProxy } from '../../fixtures/dashboard/beating-proxy.ts'
import { chromiumPath, closePages, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { pause, waitFor } from '../../fixtures/time.ts'
import {
  createTask,
  makeFolder,
  removeFolder,
  type Service,
  startService,
  waitForPhase,
} from '../../scenarios/service.ts'

const shell = (script: string) => ({ type: 'container', command: ['sh', '-c', script] })

/** Two seconds without a question: sums are read again 1.5 s after something has changed. */
async function waitUntilQuiet(page: Page): Promise<void> {
  let askedAt = performance.now()
  const note = () => {
    askedAt = performance.now()
  }
  page.on('request', note)
  await waitFor(() => performance.now() - askedAt > 2000, 'the page asks for nothing')
  page.off('request', note)
}

describe.skipIf(chromiumPath === undefined)('a page that is looked at', () => {
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

  it('shows a task that is made, how it goes on and that it is deleted', async () => {
    const { page, context, complaints } = await openDashboard(service)
    await page.goto('/tasks')
    await settle(page)
    await createTask(service, 'seen-at-once', shell('sleep 1; echo done'))
    const row = page.getByRole('row', { name: /seen-at-once/ })
    await row.getByText('Running').waitFor()
    await row.getByText('Succeeded').waitFor()
    await page.getByLabel('State').selectOption('Running')
    await row.waitFor({ state: 'detached' })
    await page.getByLabel('State').selectOption('Succeeded')
    await row.waitFor()
    await service.call('DELETE', '/api/v1/tasks/seen-at-once')
    await row.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await context.close()
  })

  it('asks for nothing again while ten minutes pass and nothing happens', async () => {
    await createTask(service, 'quiet', shell('echo quiet'))
    await waitForPhase(service, 'quiet', 'Succeeded')
    const proxy = await openBeatingProxy(service.url)
    const { page, context } = await openDashboard({ ...service, url: proxy.url })
    await page.clock.install()
    for (const address of ['/', '/tasks', '/tasks/default/quiet']) {
      await page.goto(address)
      await settle(page)
      await waitUntilQuiet(page)
      const asked: string[] = []
      const note = (request: Request) => asked.push(request.url().slice(proxy.url.length))
      page.on('request', note)
      // The clock of the page alone; between two beats of its stream it never passes as long as makes a stream seem silent.
      for (let second = 0; second < 600; second += 4) {
        await page.clock.runFor(4000)
        await pause(20)
      }
      page.off('request', note)
      expect(asked).toEqual([])
    }
    await context.close()
    proxy.close()
  })

  it('asks for nothing of a task that is being deleted', async () => {
    const { page, context, complaints } = await openDashboard(service)
    // Its deletion waits until it has stopped, which takes it some time.
    await createTask(service, 'goes-slowly', shell('trap "sleep 1; exit" TERM; while :; do sleep 0.1; done'))
    await waitForPhase(service, 'goes-slowly', 'Running')
    await page.goto('/tasks/default/goes-slowly')
    await settle(page)
    await waitUntilQuiet(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await service.call('DELETE', '/api/v1/tasks/goes-slowly')
    await page.getByText('Task "goes-slowly" was deleted').waitFor()
    expect(asked.filter((path) => path.includes('goes-slowly'))).toEqual([])
    expect(complaints).toEqual([])
    await context.close()
  })

  it('notices that its stream is dead though the clock was set back', async () => {
    const { page, context } = await openDashboard(service)
    await page.clock.install()
    await page.goto('/tasks')
    await settle(page)
    await page.getByRole('status').getByText('Live').waitFor()
    const opened: string[] = []
    page.on('request', (request) => request.url().includes('/api/v1/watch') && opened.push(request.url()))
    await page.clock.setSystemTime(Date.now() - 3_600_000)
    for (let count = 0; count < 3; count += 1) await page.clock.runFor('01:00')
    await expect.poll(() => opened.length).toBeGreaterThan(0)
    await context.close()
  })

  it('comes back by itself after the service was away, and shows what happened meanwhile', async () => {
    const { port } = new URL(service.url)
    const { page, context } = await openDashboard(service)
    await page.goto('/tasks')
    await page.getByText('Live', { exact: true }).waitFor()
    await service.kill()
    await page.getByText('Reconnecting', { exact: true }).waitFor()
    service = await startService({ folder, flags: ['--port', port] })
    await createTask(service, 'made-meanwhile', shell('echo here'))
    await page.getByRole('row', { name: /made-meanwhile/ }).waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await context.close()
  })
})
