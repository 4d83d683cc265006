// Callers with fewer rights, on every view: what they may not do is not offered, and what they may not see says so.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromiumPath, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { createToken, useFilledService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { make } from '../../fixtures/dashboard/samples/make.ts'

/** Words on buttons and links that change something; heads by which a list is sorted change nothing, nor do views that are one's own. */
const changing =
  /^(New |Create\b|Save(?! view)|Delete|Cancel|Retry|Clone|Run now|Suspend|Go on$|Resume|Release|Redeliver|Edit|Disable|Enable|Accept|Reject|Dismiss|Check|Fix|Reopen|Allow|Once$|For this task$|Always$|Deny|Review now|Revoke|Values|Send$)/

/** Kept from whoever does not own the service, or may not read secrets. */
const closed = ['/audit', '/tokens', '/settings', '/secrets']

const offered = async (page: Page): Promise<string[]> => {
  const words = await page
    .locator('main')
    .locator('button:not(th button, [role=columnheader] button), a.button, input[type=file]')
    .allInnerTexts()
  return words.map((word) => word.trim()).filter((word) => changing.test(word))
}

describe.skipIf(chromiumPath === undefined)('callers with fewer rights', () => {
  const filled = useFilledService()

  it('are offered nothing that their role may not do, on any view', async () => {
    const token = await createToken(filled.service, 'viewer')
    const { page, context } = await openDashboard({ url: filled.service.url, token })
    const found: Record<string, string[]> = {}
    for (const address of filled.addresses) {
      await page.goto(address)
      await settle(page)
      const words = await offered(page)
      if (words.length > 0) found[address] = words
    }
    expect(found).toEqual({})
    const navigation = page.getByRole('navigation', { name: 'Pages' })
    for (const name of ['Audit', 'Tokens', 'Secrets', 'Settings']) {
      expect(await navigation.getByRole('link', { name, exact: true }).count()).toBe(0)
    }
    await context.close()
    // Dozens of pages.
  }, 600_000)

  it('would be offered something there, were they an owner', async () => {
    const { page, context } = await openDashboard(filled.service)
    const kinds = [
      '/tasks',
      '/schedules',
      '/agents',
      '/scans/default/shop',
      '/monitors/default/reviews',
      '/workspaces',
      '/memories',
    ]
    for (const address of [...kinds, '/proposals', '/secrets', '/tokens', '/tasks/default/build-docs']) {
      await page.goto(address)
      await settle(page)
      await expect.poll(() => offered(page)).not.toEqual([])
    }
    await context.close()
  })

  it('are told why they see nothing where an owner sees something', async () => {
    const token = await createToken(filled.service, 'runner')
    const { page, context } = await openDashboard({ url: filled.service.url, token })
    for (const address of closed) {
      await page.goto(address)
      await page.getByRole('alert').getByText('Ask whoever runs this service for the right').first().waitFor()
    }
    await context.close()
  })

  it('see only what is in the namespace that their token is bound to, on every view', async () => {
    await make(filled.service, '/api/v1/agents', {
      name: 'of-the-team',
      namespace: 'team',
      spec: { model: { name: 'm' } },
    })
    const token = await createToken(filled.service, 'viewer', 'team')
    const { page, context } = await openDashboard({ url: filled.service.url, token })
    const names =
      /build-docs|long-run|read-pages|weekly-look|staging database|release-notes|auditor|reviews|shop|keeps-its-place/
    const seen: Record<string, string> = {}
    for (const address of filled.addresses) {
      await page.goto(address)
      await settle(page)
      // The name in the address stands in the heading, whoever asks, and in the words of the refusal.
      const parts = await page.locator('main .page > :not(.page-head)').allTextContents()
      const body = parts.join(' ').replaceAll(/"[^"]*"/g, '')
      const found = names.exec(body)
      if (found !== null) seen[address] = body.slice(Math.max(0, found.index - 40), found.index + 40)
    }
    expect(seen).toEqual({})
    await page.goto('/agents')
    await page.getByRole('link', { name: 'of-the-team' }).waitFor()
    await context.close()
    // As many pages.
  }, 600_000)
})
