// What is done by a key or a click is done to what one saw, whatever the live stream does to the page meanwhile.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { MemoryProposal } from '../../../src/contract/api/memory/memory-proposals.ts'
import { chromiumPath, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { make } from '../../fixtures/dashboard/samples/make.ts'
import { createTask } from '../../scenarios/service.ts'

const shell = (script: string) => ({ type: 'container', command: ['sh', '-c', script] })

/** Clicks once more as soon as the proposal of this title is shown. */
const clickAgain = (title: string) => `new Promise((clicked) => {
  const observer = new MutationObserver(() => {
    if (!document.querySelector('article h2')?.textContent.includes('${title}')) return
    observer.disconnect()
    clicked([...document.querySelectorAll('article button')].find((one) => one.textContent.startsWith('Reject'))?.click())
  })
  observer.observe(document.body, { childList: true, subtree: true, characterData: true })
})`

describe.skipIf(chromiumPath === undefined)('a key or a click', () => {
  const started = useService()

  const propose = (title: string) =>
    make<MemoryProposal>(started.service, '/api/v1/memory-proposals', { type: 'memory', title, content: title })
  const statusOf = async ({ id }: MemoryProposal) =>
    (await started.service.call<MemoryProposal>('GET', `/api/v1/memory-proposals/${id}`)).body.status
  const shown = (page: Page, title: string) => page.getByRole('article', { name: title })

  it('is for the row that was chosen, not for one that took its place', async () => {
    const { service } = started
    for (const name of ['oldest', 'wanted']) await createTask(service, name, shell('sleep 600'))
    const { page, context } = await openDashboard(service)
    await page.goto('/tasks')
    await page.getByRole('link', { name: 'wanted' }).waitFor()
    await page.getByRole('table', { name: 'Tasks' }).focus()
    await page.keyboard.press('j')
    const chosen = page.locator('[role="row"][data-chosen="true"]')
    await chosen.getByText('wanted').waitFor()
    for (const name of ['newer', 'newest']) await createTask(service, name, shell('sleep 600'))
    await page.getByRole('link', { name: 'newest' }).waitFor()
    expect(await chosen.getByRole('link').textContent()).toBe('wanted')
    await page.keyboard.press(' ')
    await expect.poll(() => page.getByRole('checkbox', { name: 'Choose wanted' }).isChecked()).toBe(true)
    await page.keyboard.press('j')
    expect(await chosen.getByRole('link').textContent()).toBe('oldest')
    // One that is gone is nobody: Enter opens nothing, and the next key goes on from its place.
    await page.keyboard.press('k')
    await service.call('DELETE', '/api/v1/tasks/wanted')
    await page.getByRole('link', { name: 'wanted' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Enter')
    expect(new URL(page.url()).pathname).toBe('/tasks')
    await page.keyboard.press('j')
    expect(await chosen.getByRole('link').textContent()).toBe('oldest')
    await context.close()
  })

  it('is for the proposal that is shown: others that come and go do not take its place', async () => {
    const [second, first] = [await propose('Second'), await propose('First')]
    const { page, context } = await openDashboard(started.service)
    await page.goto('/proposals')
    await shown(page, 'First').waitFor()
    const newer = await propose('Newer')
    await page.getByRole('button', { name: /Newer/ }).waitFor()
    await shown(page, 'First').waitFor()
    // Somebody else decides what is shown, just before the key is pressed.
    await started.service.call('POST', `/api/v1/memory-proposals/${first.id}/review`, { status: 'rejected' })
    await page.getByText('This one is not in the list any more').waitFor()
    await page.keyboard.press('a')
    await page.keyboard.press('j')
    await shown(page, 'Second').waitFor()
    expect(await Promise.all([newer, first, second].map(statusOf))).toEqual(['pending', 'rejected', 'pending'])
    for (const one of [newer, second])
      await started.service.call('POST', `/api/v1/memory-proposals/${one.id}/review`, { status: 'rejected' })
    await context.close()
  })

  it('that is held down or done twice decides once', async () => {
    const proposals = [await propose('Third'), await propose('Fourth'), await propose('Fifth')]
    const { page, context } = await openDashboard(started.service)
    await page.goto('/proposals')
    await shown(page, 'Fifth').waitFor()
    const decided = async () => (await Promise.all(proposals.map(statusOf))).filter((status) => status !== 'pending')
    await page.keyboard.down('r')
    await shown(page, 'Fourth').waitFor()
    // A key that is held down comes again and again.
    for (let count = 0; count < 20; count += 1) {
      await page.keyboard.down('r')
      await page.waitForTimeout(50)
    }
    await page.keyboard.up('r')
    expect(await decided()).toHaveLength(1)
    const reject = page.getByRole('button', { name: /^Reject/ })
    // The second click comes at the moment at which the next one is shown, however slow the machine is.
    const again = page.evaluate(clickAgain('Third'))
    await reject.click()
    await again
    await page.waitForTimeout(1000)
    expect(await decided()).toHaveLength(2)
    await context.close()
  })

  it('is asked about by name before it takes something away', async () => {
    const { page, context } = await openDashboard(started.service)
    await createTask(started.service, 'named', shell('sleep 600'))
    await page.goto('/tasks/default/named')
    for (const work of ['Cancel', 'Delete']) {
      await page.getByRole('button', { name: work, exact: true }).click()
      await page.getByRole('dialog', { name: `${work} named?` }).waitFor()
      await page.keyboard.press('Escape')
    }
    await context.close()
  })
})
