// Deliveries of a code host in a real browser: what came of each, and working one off again.
import { describe, expect, it } from 'vitest'
import { issueEvent, label, makeDelivery, makeSecret } from '../fixtures/codehost/deliveries.ts'
import { chromiumPath, openDashboard } from '../fixtures/dashboard/browser.ts'
import { createToken, useService } from '../fixtures/dashboard/dashboard-tests.ts'

const secret = makeSecret()

describe.skipIf(chromiumPath === undefined)('deliveries', () => {
  const started = useService({ env: { SVC_CODEHOST_WEBHOOK_SECRET: secret } })

  async function deliver(change: object = {}): Promise<void> {
    const { payload, headers } = makeDelivery({ ...issueEvent('labeled', { ...label('nothing'), ...change }), secret })
    const answer = await fetch(`${started.service.url}/webhooks/codehost`, { method: 'POST', body: payload, headers })
    expect(answer.status).toBeLessThan(300)
  }

  it('come in while one looks, and are worked off again by a button', async () => {
    const { page, context } = await openDashboard(started.service)
    await page.goto('/deliveries')
    await page.getByText('Nothing was delivered yet').waitFor()
    await deliver()
    const row = page.getByRole('row').filter({ hasText: 'issues labeled' })
    await row.waitFor()
    const told = (await row.locator('[role=cell]').nth(4).textContent()) ?? ''
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().includes('/redeliver')),
      row.getByRole('button', { name: 'Work it off' }).click(),
    ])
    expect(answer.status()).toBe(200)
    await page
      .getByRole('status')
      .filter({ hasText: told.slice(0, 20) })
      .first()
      .waitFor()
    await context.close()
  })

  it('are shown to a viewer without the button', async () => {
    await deliver()
    const token = await createToken(started.service, 'viewer')
    const { page, context } = await openDashboard({ url: started.service.url, token })
    await page.goto('/deliveries')
    await page.getByRole('row').filter({ hasText: 'issues labeled' }).first().waitFor()
    expect(await page.getByRole('button', { name: 'Work it off' }).count()).toBe(0)
    await context.close()
  })
})
