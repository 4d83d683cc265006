// The dashboard in a real Chromium against a real service: what is loaded, when it is seen, how it scrolls ten thousand rows while
// they change, ten thousand steps and a long log, and what it keeps in memory. The floor is an empty page of a bare server, looked at by the same Lighthouse.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import lighthouse from 'lighthouse'
import type { Page, Request } from 'playwright-core'
import { callerOf, debuggingPort, openBrowser, signIn } from './dashboard-browser.ts'
import { measureLog } from './dashboard-log.ts'
import { createRows, measureMemory, measureRows } from './dashboard-rows.ts'
import { createTaskWithSteps, measureSteps } from './dashboard-steps.ts'
import { percentile, type Row, report, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'

const looks = 3

type Look = { first: number; interactive: number; scores: Record<string, number> }

/** One look of Lighthouse, without a slowed network or processor: everything is on this machine. */
async function look(url: string): Promise<Look> {
  const result = await lighthouse(url, {
    port: debuggingPort,
    // The live stream goes on: the network is never idle, and a longer trace loses its beginning.
    maxWaitForLoad: 8000,
    output: 'json',
    logLevel: 'error',
    disableStorageReset: true,
    formFactor: 'desktop',
    throttlingMethod: 'provided',
    screenEmulation: { mobile: false, width: 1440, height: 900, deviceScaleFactor: 1, disabled: false },
    onlyCategories: ['performance', 'accessibility', 'best-practices'],
  })
  if (result === undefined) throw new Error('Lighthouse has no result')
  const { audits, categories } = result.lhr
  const ms = (name: string) => audits[name]?.numericValue ?? Number.NaN
  const scores = Object.fromEntries(Object.entries(categories).map(([name, { score }]) => [name, (score ?? 0) * 100]))
  return { first: ms('first-contentful-paint'), interactive: ms('interactive'), scores }
}

async function measureLooks(what: string, url: string): Promise<Row> {
  const samples: Look[] = []
  for (let index = 0; index < looks; index += 1) samples.push(await look(url))
  const middle = (pick: (sample: Look) => number) => percentile(samples.map(pick), 0.5)
  const scores = Object.keys(samples[0]?.scores ?? {}).map((name) => [
    name,
    round(Math.min(...samples.map((sample) => sample.scores[name] ?? 0)), 0),
  ])
  return {
    what,
    'first paint ms': round(middle(({ first }) => first)),
    'interactive ms': round(middle(({ interactive }) => interactive)),
    ...Object.fromEntries(scores),
  }
}

/** An empty page of a bare server. */
async function measureFloor(): Promise<Row> {
  const page = '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>x</title><p>x'
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(page))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  try {
    return await measureLooks('floor: an empty page of a bare server', `http://127.0.0.1:${port}/`)
  } finally {
    server.close()
  }
}

/** Kilobytes of compressed JavaScript, as it is sent, until the page stands still. */
async function measureScripts(page: Page, url: string): Promise<number> {
  const names: string[] = []
  const note = (request: Request) => {
    if (request.resourceType() === 'script') names.push(new URL(request.url()).pathname)
  }
  page.on('requestfinished', note)
  await page.goto(url)
  await page.waitForLoadState('load')
  await page.waitForTimeout(1000)
  page.off('requestfinished', note)
  const folder = join(process.env.BENCH_PROGRAM ?? join(import.meta.dirname, '..'), 'dist', 'dashboard')
  // What is small is sent as it is.
  const sent = names.map((name) => [`${name}.gz`, name].map((file) => join(folder, file)).find(existsSync) ?? name)
  return sent.reduce((sum, file) => sum + readFileSync(file).length, 0) / 1000
}

type Place = { page: Page; service: RunningService }

async function measureFirstView({ page, service }: Place): Promise<void> {
  const path = await createTaskWithSteps(service, 'looked-at')
  const scripts = await measureScripts(page, `${service.url}/`)
  const scriptsOfTask = await measureScripts(page, service.url + path)
  await page.goto('about:blank')
  const views: Row[] = [await measureFloor()]
  for (const address of ['/', '/tasks', path]) views.push(await measureLooks(`svc ${address}`, service.url + address))
  const kilobytes = `${round(scripts)} kB of compressed scripts for the first view`
  report(`dashboard: ${kilobytes}, ${round(scriptsOfTask)} kB for that of a task`, views)
}

/** In this order. */
const parts = {
  first: measureFirstView,
  rows: async ({ page, service }: Place) => {
    await createRows(callerOf(service))
    await measureRows(page, service)
    await measureMemory(page, service)
  },
  steps: ({ page, service }: Place) => measureSteps(page, service),
  log: ({ page, service }: Place) => measureLog(page, service),
}

/** `BENCH_DASHBOARD_PARTS=rows,log`: only these. */
const wanted = process.env.BENCH_DASHBOARD_PARTS?.split(',') ?? Object.keys(parts)

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-browser-'))
  const service = await startService()
  const browser = await openBrowser(folder)
  try {
    const [page = await browser.newPage()] = browser.pages()
    await signIn(page, service)
    for (const [name, measure] of Object.entries(parts)) if (wanted.includes(name)) await measure({ page, service })
  } finally {
    await browser.close()
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
