// The dashboard in a real Chromium against a real service: what is loaded, when it is seen, how it scrolls ten thousand rows while
// they change, and what it keeps in memory. The floor is an empty page of a bare server, looked at by the same Lighthouse.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import lighthouse from 'lighthouse'
import { type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core'
import { chromiumPath } from '../test/fixtures/dashboard/browser.ts'
import { percentile, type Row, report, round } from './measure.ts'
import { type RunningService, startService } from './service.ts'

const rows = Number(process.env.BENCH_DASHBOARD_ROWS ?? 10_000)
const perSecond = Number(process.env.BENCH_DASHBOARD_UPDATES ?? 200)
/** Of live updates, for the memory. */
const minutes = Number(process.env.BENCH_DASHBOARD_MINUTES ?? 6)
const looks = 3

const debuggingPort = 9333

async function openBrowser(folder: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, {
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    viewport: { width: 1440, height: 900 },
    args: [`--remote-debugging-port=${debuggingPort}`, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  })
}

async function signIn(page: Page, { url, token }: RunningService): Promise<void> {
  await page.goto(url)
  const session = JSON.stringify({ token, source: 'token' })
  await page.evaluate(`localStorage.setItem('svc.session', ${JSON.stringify(session)})`)
}

type Call = (method: string, path: string, body?: unknown) => Promise<Response>

function callerOf({ url, token }: RunningService): Call {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return (method, path, body) => fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
}

const nameOf = (index: number) => `task-${String(index).padStart(5, '0')}`

/** Tasks that wait to be resumed: they can be changed as often as one likes, and run nothing. */
async function createRows(call: Call): Promise<void> {
  const parallel = 32
  for (let index = 0; index < rows; index += parallel) {
    const batch = Array.from({ length: Math.min(parallel, rows - index) }, (_, at) =>
      call('POST', '/api/v1/tasks', { name: nameOf(index + at), type: 'container', command: ['true'], suspend: true }),
    )
    const answers = await Promise.all(batch)
    const refused = answers.find(({ status }) => status !== 201)
    if (refused !== undefined) throw new Error(`a task was refused: ${await refused.text()}`)
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  }
}

/** Changes the newest tasks, those in sight among them, at a steady rate, until told to stop. Resolves with how many. */
function changeRows(call: Call): { stop(): Promise<number> } {
  let isOver = false
  let sent = 0
  let changed = 0
  const began = performance.now()
  const running = new Set<Promise<void>>()
  async function change(): Promise<void> {
    const name = nameOf(rows - 1 - (sent % 200))
    const spec = { type: 'container', command: ['true'], suspend: true, priority: sent % 1000 }
    const answer = await call('PUT', `/api/v1/tasks/${name}`, { spec })
    await answer.arrayBuffer()
    if (answer.status === 200) changed += 1
  }
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1000) * perSecond
    for (; !isOver && sent < due && running.size < 64; sent += 1) {
      const one = change().finally(() => running.delete(one))
      running.add(one)
    }
  }, 5)
  return {
    async stop() {
      isOver = true
      clearInterval(timer)
      await Promise.all(running)
      return changed / ((performance.now() - began) / 1000)
    },
  }
}

type Look = { first: number; interactive: number; scores: Record<string, number> }

/** One look of Lighthouse, without a slowed network or processor: everything is on this machine. */
async function look(url: string): Promise<Look> {
  const result = await lighthouse(url, {
    port: debuggingPort,
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
  page.on('requestfinished', (request) => {
    if (request.resourceType() === 'script') names.push(new URL(request.url()).pathname)
  })
  await page.goto(url)
  await page.waitForLoadState('load')
  await page.waitForTimeout(1000)
  const folder = join(process.env.BENCH_PROGRAM ?? join(import.meta.dirname, '..'), 'dist', 'dashboard')
  return names.reduce((sum, name) => sum + readFileSync(join(folder, `${name}.gz`)).length, 0) / 1000
}

/** Milliseconds between frames while the list is scrolled for some seconds. */
async function measureFrames(page: Page, seconds: number): Promise<number[]> {
  const script = `new Promise((resolve) => {
    const table = document.querySelector('[role=table]')
    const spans = []
    const began = performance.now()
    let last
    let step = 60
    function frame(now) {
      if (last !== undefined) spans.push(now - last)
      last = now
      const end = table.scrollHeight - table.clientHeight
      if (table.scrollTop >= end) step = -60
      if (table.scrollTop <= 0) step = 60
      table.scrollTop += step
      if (now - began < ${seconds * 1000}) requestAnimationFrame(frame)
      else resolve(spans)
    }
    requestAnimationFrame(frame)
  })`
  return (await page.evaluate(script)) as number[]
}

function describeFrames(what: string, spans: number[]): Row {
  const total = spans.reduce((sum, span) => sum + span, 0)
  return {
    what,
    'frames a second': round((spans.length / total) * 1000),
    'p50 ms': round(percentile(spans, 0.5)),
    'p99 ms': round(percentile(spans, 0.99)),
    'over 34 ms, %': round((spans.filter((span) => span > 34).length / spans.length) * 100, 2),
  }
}

/** MiB of the page's heap after what is garbage has gone. */
async function readHeap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return usedSize / 2 ** 20
}

async function loadAllRows(page: Page): Promise<void> {
  await page.locator('[role=table]').waitFor()
  const script = `(() => {
    const table = document.querySelector('[role=table]')
    table.scrollTop = table.scrollHeight
    return Math.round((table.scrollHeight - 40) / 40)
  })()`
  while (Number(await page.evaluate(script)) < rows - 1) await page.waitForTimeout(100)
  await page.evaluate("document.querySelector('[role=table]').scrollTop = 0")
}

async function measureList(page: Page, service: RunningService): Promise<void> {
  const call = callerOf(service)
  await createRows(call)
  await page.goto(`${service.url}/tasks`)
  const began = performance.now()
  await loadAllRows(page)
  const loaded = performance.now() - began
  const still = await measureFrames(page, 10)
  const changing = changeRows(call)
  const moving = await measureFrames(page, 20)
  const rate = await changing.stop()
  report(`dashboard: ${rows} rows, all of them read in ${round(loaded / 1000)} s`, [
    describeFrames('scrolling, nothing changes', still),
    describeFrames(`scrolling, ${round(rate, 0)} changes a second`, moving),
  ])
  await measureMemory(page, call)
}

async function measureMemory(page: Page, call: Call): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const samples: Row[] = []
  const changing = changeRows(call)
  const began = performance.now()
  for (let minute = 0; minute <= minutes; minute += 1) {
    samples.push({ minute, 'heap MiB': round(await readHeap(session)) })
    const due = began + (minute + 1) * 60_000
    if (minute < minutes) await page.waitForTimeout(due - performance.now())
  }
  const rate = await changing.stop()
  report(`dashboard: memory of a tab with ${rows} rows at ${round(rate, 0)} changes a second`, samples)
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-browser-'))
  const service = await startService()
  const browser = await openBrowser(folder)
  try {
    const [page = await browser.newPage()] = browser.pages()
    await signIn(page, service)
    const scripts = await measureScripts(page, `${service.url}/`)
    await page.goto('about:blank')
    const views: Row[] = [await measureFloor()]
    for (const address of ['/', '/tasks']) views.push(await measureLooks(`svc ${address}`, service.url + address))
    report(`dashboard: ${round(scripts)} kB of compressed scripts for the first view`, views)
    await measureList(page, service)
  } finally {
    await browser.close()
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
