// Ten thousand rows in the list of tasks: how it scrolls them while they change, and what the tab keeps in memory.
import type { Page } from 'playwright-core'
import { type Call, callerOf, measureFrames, readHeap } from './dashboard-browser.ts'
import { type Row, report, round } from './measure.ts'
import type { RunningService } from './service.ts'

const rows = Number(process.env.BENCH_DASHBOARD_ROWS ?? 10_000)
const perSecond = Number(process.env.BENCH_DASHBOARD_UPDATES ?? 200)
/** Of live updates, for the memory. */
const minutes = Number(process.env.BENCH_DASHBOARD_MINUTES ?? 2)
/** Heaps that are reported, the first and the last included. */
const heaps = 13
/** The newest rows, all of which change in turn. */
const changing = 200
const rowHeight = 40

const nameOf = (index: number) => `task-${String(index).padStart(5, '0')}`

/** Tasks that wait to be resumed: they can be changed as often as one likes, and run nothing. */
export async function createRows(call: Call): Promise<void> {
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

/** Changes the newest tasks at a steady rate until told to stop, which resolves with how many it were a second. */
function changeRows(call: Call): { stop(): Promise<number> } {
  let isOver = false
  let sent = 0
  let changed = 0
  const began = performance.now()
  const running = new Set<Promise<void>>()
  async function change(): Promise<void> {
    const name = nameOf(rows - 1 - (sent % changing))
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

/** Opens the list and goes to its end, as the key does. Resolves with the seconds until the last row is there. */
async function readToEnd(page: Page, service: RunningService): Promise<number> {
  await page.goto(`${service.url}/tasks`)
  const began = performance.now()
  const table = page.getByRole('table', { name: 'Tasks' })
  const row = (number: number) => table.locator(`[aria-rowindex="${number + 1}"][aria-busy="false"]`)
  await table.focus()
  await page.keyboard.press('End')
  await row(rows).waitFor({ timeout: 120_000 })
  const seconds = (performance.now() - began) / 1000
  await page.keyboard.press('Home')
  await row(1).waitFor()
  return seconds
}

export async function measureRows(page: Page, service: RunningService): Promise<void> {
  const call = callerOf(service)
  const seconds = await readToEnd(page, service)
  const scrolling = { selector: '[role=table]', step: 60 }
  const still = await measureFrames('scrolling, nothing changes', page, { ...scrolling, seconds: 10 })
  const changes = changeRows(call)
  const turnAt = changing * rowHeight
  const moving = await measureFrames('scrolling rows that change', page, { ...scrolling, seconds: 20, turnAt })
  const rate = await changes.stop()
  report(`dashboard: ${rows} rows, the last one there after ${round(seconds)} s`, [
    still,
    { ...moving, what: `scrolling the ${changing} rows that change, ${round(rate, 0)} changes a second` },
  ])
}

export async function measureMemory(page: Page, service: RunningService): Promise<void> {
  await readToEnd(page, service)
  const session = await page.context().newCDPSession(page)
  const samples: Row[] = []
  const changes = changeRows(callerOf(service))
  const began = performance.now()
  for (let index = 0; index < heaps; index += 1) {
    const minute = (minutes * index) / (heaps - 1)
    await page.waitForTimeout(Math.max(0, began + minute * 60_000 - performance.now()))
    samples.push({ minute: round(minute), ...(await readHeap(session)) })
    console.log(JSON.stringify(samples.at(-1)))
  }
  const rate = await changes.stop()
  await session.detach()
  report(`dashboard: memory of a tab with ${rows} rows at ${round(rate, 0)} changes a second`, samples)
}
