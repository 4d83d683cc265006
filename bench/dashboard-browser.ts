// What the benches of the dashboard share: a real Chromium that is signed in, frames while something scrolls, and the page's heap.
import { type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core'
import { chromiumPath } from '../test/fixtures/dashboard/browser.ts'
import { percentile, type Row, round } from './measure.ts'
import type { RunningService } from './service.ts'

/** Where Lighthouse finds the browser: one bench of the dashboard at a time. */
export const debuggingPort = 9333

export async function openBrowser(folder: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext(folder, {
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    viewport: { width: 1440, height: 900 },
    args: [`--remote-debugging-port=${debuggingPort}`, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  })
}

export async function signIn(page: Page, { url, token }: RunningService): Promise<void> {
  await page.goto(url)
  const session = JSON.stringify({ token, source: 'token' })
  await page.evaluate(`localStorage.setItem('svc.session', ${JSON.stringify(session)})`)
}

export type Call = (method: string, path: string, body?: unknown) => Promise<Response>

export function callerOf({ url, token }: RunningService): Call {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return (method, path, body) => fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
}

type Scrolling = {
  /** CSS selector of what scrolls. */
  selector: string
  seconds: number
  /** Pixels a frame. */
  step: number
  /** Where it turns back, in pixels; default: at the end. */
  turnAt?: number
}

/** CPU that the page's thread has used, ms. */
async function readThread(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1000
}

/** Frames while something scrolls to and fro. CPU does not depend on what else the machine does, spans do. */
export async function measureFrames(what: string, page: Page, scrolling: Scrolling): Promise<Row> {
  const { selector, seconds, step, turnAt = Number.MAX_SAFE_INTEGER } = scrolling
  const script = `new Promise((resolve) => {
    const scroller = document.querySelector('${selector}')
    const spans = []
    const began = performance.now()
    let last
    let step = ${step}
    function frame(now) {
      if (last !== undefined) spans.push(now - last)
      last = now
      const end = Math.min(scroller.scrollHeight - scroller.clientHeight, ${turnAt})
      if (scroller.scrollTop >= end) step = -${step}
      if (scroller.scrollTop <= 0) step = ${step}
      scroller.scrollTop += step
      if (now - began < ${seconds * 1000}) requestAnimationFrame(frame)
      else resolve(spans)
    }
    requestAnimationFrame(frame)
  })`
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const before = await readThread(session)
  const spans = (await page.evaluate(script)) as number[]
  const used = (await readThread(session)) - before
  await session.detach()
  const total = spans.reduce((sum, span) => sum + span, 0)
  return {
    what,
    'frames a second': round((spans.length / total) * 1000),
    'p50 ms': round(percentile(spans, 0.5)),
    'p99 ms': round(percentile(spans, 0.99)),
    'over 34 ms, %': round((spans.filter((span) => span > 34).length / spans.length) * 100, 2),
    'CPU of the page a frame, ms': round(used / spans.length),
  }
}

/** MiB of the page's heap after what is garbage has gone, and the nodes of its documents. */
export async function readHeap(session: CDPSession): Promise<Row> {
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { nodes } = await session.send('Memory.getDOMCounters')
  return { 'heap MiB': round(usedSize / 2 ** 20), nodes }
}
