// A log of ten mebibytes on the page of its task: how soon it is there, and how it scrolls.
import type { Page } from 'playwright-core'
import { callerOf, measureFrames } from './dashboard-browser.ts'
import { report, round } from './measure.ts'
import type { RunningService } from './service.ts'

const lines = 100_000
/** 105 bytes a line with its number. */
const script = `i=0; x=$(printf '%098d' 0); while [ $i -lt ${lines} ]; do i=$((i+1)); printf '%06d %s\\n' $i $x; done`

async function writeLog(service: RunningService): Promise<void> {
  const call = callerOf(service)
  const task = { name: 'long-log', type: 'container', command: ['sh', '-c', script] }
  const made = await call('POST', '/api/v1/tasks', task)
  if (made.status !== 201) throw new Error(`the task was refused: ${await made.text()}`)
  for (let phase = ''; phase !== 'Succeeded'; ) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const answer = (await (await call('GET', '/api/v1/tasks/long-log')).json()) as { status?: { phase?: string } }
    phase = answer.status?.phase ?? ''
    if (phase === 'Failed') throw new Error('the task that writes the log has failed')
  }
}

export async function measureLog(page: Page, service: RunningService): Promise<void> {
  await writeLog(service)
  const began = performance.now()
  await page.goto(`${service.url}/tasks/default/long-log?tab=log`)
  await page.getByText(`${lines} lines`).waitFor({ timeout: 120_000 })
  const seconds = (performance.now() - began) / 1000
  await page.getByRole('button', { name: 'Follow the end' }).click()
  const scrolling = { selector: '.log', seconds: 10 }
  report(`dashboard: a log of ${round((lines * 106) / 2 ** 20)} MiB, all of it there after ${round(seconds)} s`, [
    await measureFrames('scrolling, three lines a frame', page, { ...scrolling, step: 60 }),
    await measureFrames('scrolling, a hundred lines a frame', page, { ...scrolling, step: 1900 }),
  ])
}
