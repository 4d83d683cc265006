// Sessions, their transcripts and the search in them, in a real browser.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, closePages, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { addChats } from '../../fixtures/dashboard/samples/chat.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

let service: Service
let page: Page

describe.skipIf(chromiumPath === undefined)('sessions', () => {
  beforeAll(async () => {
    service = await startService()
    await addChats(service)
    page = (await openDashboard(service)).page
  })
  afterAll(async () => {
    await closePages()
    await service.stop()
    removeFolder(service.folder)
  })

  it('lists them, opens one by keyboard, and shows its calls of tools', async () => {
    await page.goto('/sessions')
    const table = page.getByRole('table', { name: 'Sessions' })
    await table.getByRole('link', { name: 'weekly-look' }).waitFor()
    await table.focus()
    await page.keyboard.press('End')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'weekly-look' }).waitFor()
    const transcript = page.getByRole('region', { name: 'Transcript' })
    await transcript.getByText('How are the builds?').waitFor()
    await transcript.locator('summary', { hasText: 'create_container_task' }).click()
    await transcript.getByRole('region', { name: 'Arguments' }).getByText('"look"').waitFor()
    await transcript.getByRole('heading', { name: 'What I found' }).waitFor()
  })

  it('finds messages by words, and points the message out in its session', async () => {
    await page.goto('/sessions')
    await page.getByLabel('Search in transcripts').fill('"mend the tests"')
    const found = page.getByRole('list', { name: 'Messages that were found' })
    await found.getByRole('link', { name: 'weekly-look' }).click()
    await page.locator('[data-marked="true"]', { hasText: 'Mend the tests' }).waitFor()
    await page.goto('/sessions?q=submarine')
    await page.getByText('No message has all these words').waitFor()
  })

  it('shows what the turns of a chat did, step by step, with what each was called with', async () => {
    await page.goto('/sessions/default/weekly-look')
    await page.getByRole('navigation', { name: 'Parts of the session' }).getByRole('link', { name: 'Steps' }).click()
    const steps = page.getByRole('treegrid', { name: 'Steps' })
    await steps.getByText('Turn 1').waitFor()
    await steps.getByText('Delegate').click()
    await steps.getByRole('region', { name: 'Arguments' }).getByText('"look"').waitFor()
    await page.goto('/sessions/default/refused?tab=steps')
    await steps.getByText('failed').first().waitFor()
  })

  it('goes on with a chat, and asks before it deletes a session', async () => {
    await page.goto('/sessions/default/weekly-look')
    await page.getByRole('link', { name: 'Go on in the chat' }).click()
    await page.getByRole('log').getByText('How are the builds?').waitFor()
    await page.goto('/sessions/default/refused')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the session' }).click()
    await page.getByRole('table', { name: 'Sessions' }).getByText('weekly-look').waitFor()
    expect((await service.call('GET', '/api/v1/sessions/refused')).status).toBe(404)
    await page.goto('/sessions/default/refused')
    await page
      .getByRole('alert')
      .getByText(/not found/)
      .waitFor()
  })
})
