// Ten thousand steps on the page of a task: how soon they are there, how they scroll, and what the tab keeps in memory.
import type { Page } from 'playwright-core'
import { answerSteps } from '../test/fixtures/dashboard/many-steps.ts'
import { callerOf, measureFrames, readHeap } from './dashboard-browser.ts'
import { report, round } from './measure.ts'
import type { RunningService } from './service.ts'

const steps = Number(process.env.BENCH_DASHBOARD_STEPS ?? 10_000)

/** A task that has ended, with steps and a result; resolves to the path of its page. */
export async function createTaskWithSteps(service: RunningService, name: string): Promise<string> {
  const call = callerOf(service)
  await call('POST', '/api/v1/providers', { name: 'script', spec: { type: 'demo' } })
  const ai = { prompt: 'write hello to a.txt then read a.txt', providerRef: { name: 'script' } }
  const made = await call('POST', '/api/v1/tasks', { name, type: 'ai', ai })
  if (made.status !== 201) throw new Error(`the task was refused: ${await made.text()}`)
  for (let phase = ''; phase !== 'Succeeded'; ) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const answer = (await (await call('GET', `/api/v1/tasks/${name}`)).json()) as { status?: { phase?: string } }
    phase = answer.status?.phase ?? ''
    if (phase === 'Failed') throw new Error(`the task ${name} has failed`)
  }
  return `/tasks/default/${name}`
}

/** The steps are answered by the browser itself: only the page is measured, not how the service reads them. */
export async function measureSteps(page: Page, service: RunningService): Promise<void> {
  const path = await createTaskWithSteps(service, 'many-steps')
  await answerSteps(page, 'many-steps', steps)
  const began = performance.now()
  await page.goto(service.url + path)
  const count = new RegExp(`^Steps\\s*${steps.toLocaleString('en')}$`)
  await page.getByRole('link', { name: count }).waitFor({ timeout: 120_000 })
  const seconds = (performance.now() - began) / 1000
  const scrolling = { selector: '#main', seconds: 10 }
  report(`dashboard: ${steps} steps of a task, all of them there after ${round(seconds)} s`, [
    await measureFrames('scrolling, two lines a frame', page, { ...scrolling, step: 72 }),
    await measureFrames('scrolling, fifty lines a frame', page, { ...scrolling, step: 1800 }),
  ])
  const session = await page.context().newCDPSession(page)
  report(`dashboard: memory of a tab with ${steps} steps`, [{ steps, ...(await readHeap(session)) }])
  await session.detach()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
}
