// A task that wants more than to be looked at: what it wrote is text, wherever it is shown.
import { describe, expect, it } from 'vitest'
import { chromiumPath, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { createTask, waitForPhase } from '../../scenarios/service.ts'

const esc = '\\033'
const markup = '<img src=x onerror=window.stolen=1><script>window.stolen=1</script><b id=bold>bold</b>'
const script = [
  `printf '%s\\n' '${markup}'`,
  `printf '${esc}[2J${esc}[31mred${esc}[0m ${esc}]0;title\\007 ${esc}]8;;javascript:window.stolen=1\\007click${esc}]8;;\\007\\n'`,
  "printf 'invoice\\342\\200\\256fdp.exe\\n'",
  "head -c 10000000 /dev/zero | tr '\\0' 'x'",
  'echo; echo the-end',
].join('; ')

const tabs = ['', '?tab=log', '?tab=result', '?tab=files', '?tab=diff', '?tab=object']

describe.skipIf(chromiumPath === undefined)('a hostile task', () => {
  const started = useService()

  it('shows as text in every part of its page and in the list', async () => {
    const { service } = started
    const labels = { team: 'x' }
    const annotations = { 'example.com/note': markup }
    await createTask(service, 'hostile', { type: 'container', command: ['sh', '-c', script] }, { labels, annotations })
    await waitForPhase(service, 'hostile', 'Succeeded')
    await createTask(service, 'refused', { type: 'container', command: [markup], retryPolicy: { maxRetries: 0 } })
    await waitForPhase(service, 'refused', 'Failed')
    const { page, context, complaints } = await openDashboard(service)
    for (const address of [
      '/',
      '/tasks',
      ...tabs.map((tab) => `/tasks/default/hostile${tab}`),
      '/tasks/default/refused',
    ]) {
      await page.goto(address)
      await settle(page)
      expect(await page.evaluate('window.stolen')).toBeUndefined()
      expect(await page.locator('#bold, main img[src="x"], main script, a[href^="javascript"]').count()).toBe(0)
      const text = String(await page.evaluate('document.body.innerText'))
      expect(text.replace(/[\n\t]/g, '')).not.toMatch(/\p{Cc}|\u202e/u)
      // What is drawn stays small, however long a line is.
      expect(text.length).toBeLessThan(1_000_000)
    }
    expect(complaints).toEqual([])
    await page.goto('/tasks/default/hostile?tab=log')
    await page.getByText('<script>window.stolen=1</script>').first().waitFor()
    await page.getByText('invoice⟨U+202E⟩fdp.exe').first().waitFor()
    await context.close()
  })
})
