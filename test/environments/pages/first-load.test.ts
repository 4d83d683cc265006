// How much a browser fetches until the first page is there, in a real one.
import { get } from 'node:http'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { type ScriptedVendor, startVendor } from '../../fixtures/llm/scripted-vendor.ts'
import { createTask, waitForPhase } from '../../scenarios/service.ts'

/** Bytes of the file as it is sent to whoever reads gzip. */
function sizeOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
      let bytes = 0
      answer.on('data', (piece: Buffer) => {
        bytes += piece.length
      })
      answer.on('end', () => resolve(bytes))
    }).on('error', reject)
  })
}

/** What the page that is open has fetched besides answers of the API, the largest first. */
async function listFetched(page: Page): Promise<[size: number, path: string][]> {
  await settle(page)
  await page.evaluate('document.fonts.ready')
  const script = '[location.href, ...performance.getEntriesByType("resource").map(({ name }) => name)]'
  const urls = ((await page.evaluate(script)) as string[]).filter((url) => !new URL(url).pathname.startsWith('/api/'))
  const sizes = urls.map(async (url): Promise<[number, string]> => [await sizeOf(url), new URL(url).pathname])
  return (await Promise.all(sizes)).toSorted(([a], [b]) => b - a)
}

/** With styles, font and the first page. */
function expectLight(fetched: [size: number, path: string][]): void {
  const sum = fetched.reduce((all, [size]) => all + size, 0)
  // What is large is named where it has become too much.
  expect(sum, JSON.stringify(fetched.slice(0, 12))).toBeLessThan(200_000)
  expect(fetched.some(([, path]) => path.endsWith('.woff2'))).toBe(true)
}

/** Keeps the files of that name from coming until it is called. */
async function holdBack(page: Page, file: string): Promise<() => void> {
  const gate = Promise.withResolvers<void>()
  await page.route(`**/assets/${file}-*.js`, (route) => gate.promise.then(() => route.continue()))
  return gate.resolve
}

describe.skipIf(chromiumPath === undefined)('the first load', () => {
  const started = useService()
  const path = '/tasks/default/stepped'
  let vendor: ScriptedVendor
  beforeAll(async () => {
    const { service } = started
    vendor = await startVendor(({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? [{ text: 'The file is written, and says hello.' }]
        : [{ call: { name: 'file_write', args: { path: 'a.txt', content: 'hello' } } }],
    )
    const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' }
    await service.call('POST', '/api/v1/providers', { name: 'default', spec })
    await createTask(service, 'stepped', { type: 'ai', ai: { prompt: 'write it', tools: ['file_write'] } })
    await waitForPhase(service, 'stepped', 'Succeeded')
  })
  afterAll(() => vendor.close())

  const result = (page: Page) => page.getByRole('region', { name: 'Text of the result' })
  const steps = (page: Page) => page.getByRole('treegrid', { name: 'Steps' }).getByText('file_write')

  it('is under 200 kB of gzip', async () => {
    const { page, context } = await openDashboard(started.service)
    await page.locator('.chart-bar').first().waitFor({ state: 'attached' })
    expectLight(await listFetched(page))
    await context.close()
  })

  it('is so at the address of a task, too, with its result and its steps', async () => {
    const { page, context } = await openDashboard(started.service)
    await page.goto(path)
    await Promise.all([result(page).waitFor(), steps(page).waitFor()])
    expectLight(await listFetched(page))
    await context.close()
  })

  it('draws a task that is over in one go, whatever comes last', async () => {
    const { page, context } = await openDashboard(started.service)
    const gate = Promise.withResolvers<void>()
    await page.route('**/stepped/result*', (route) => gate.promise.then(() => route.continue()))
    const traced = page.waitForResponse((response) => response.url().includes('/trace'))
    await page.goto(path)
    await traced
    await page.getByRole('link', { name: /^Steps/ }).waitFor()
    expect(await steps(page).isVisible()).toBe(false)
    gate.resolve()
    await Promise.all([result(page).waitFor(), steps(page).waitFor()])
    await context.close()
  })

  it('leaves a part of a task where it is until the code of the next one is there', async () => {
    const { page, context } = await openDashboard(started.service)
    await page.goto(path)
    await steps(page).waitFor()
    const letCome = await holdBack(page, 'log-tab')
    const asked = page.waitForRequest(/log-tab-.*\.js/)
    await page.getByRole('link', { name: 'Log', exact: true }).click()
    await asked
    expect(await steps(page).isVisible()).toBe(true)
    letCome()
    await page.getByRole('region', { name: 'Log' }).waitFor()
    await context.close()
  })
})
