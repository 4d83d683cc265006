// Deliveries of a code host in a real browser: what came of each, and redelivering one.
import { describe, expect, it } from 'vitest'
import { issueEvent, label, makeDelivery, makeSecret } from '../../fixtures/codehost/deliveries.ts'
import { chromiumPath, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { createToken, useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { make } from '../../fixtures/dashboard/samples/make.ts'

const secret = makeSecret()

describe.skipIf(chromiumPath === undefined)('deliveries', () => {
  const started = useService({
    flags: ['--codehost-label-trigger-agent', 'builder'],
    env: { SVC_CODEHOST_WEBHOOK_SECRET: secret },
  })

  async function deliver(change: object): Promise<void> {
    const { payload, headers } = makeDelivery({ ...issueEvent('labeled', change), secret })
    const answer = await fetch(`${started.service.url}/webhooks/codehost`, { method: 'POST', body: payload, headers })
    expect([200, 201, 202, 400]).toContain(answer.status)
  }

  it('come in while one looks, and one that failed for want of an agent is processed when there is one', async () => {
    const { page, context } = await openDashboard(started.service)
    await page.goto('/deliveries')
    await page.getByText('Nothing was delivered yet').waitFor()
    await deliver(label('agent:implement'))
    const row = page.getByRole('row').filter({ hasText: 'issues labeled' })
    await row.getByText('failed').waitFor()
    const spec = { runtime: { type: 'llma-cli' }, model: { name: 'm' } }
    await make(started.service, '/api/v1/agents', { name: 'builder', spec })
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().includes('/redeliver')),
      row.getByRole('button', { name: 'Redeliver' }).click(),
    ])
    expect(answer.status()).toBe(200)
    const { outcome } = (await answer.json()) as { outcome: { message: string } }
    await page.locator('.toast').getByText(outcome.message).waitFor()
    await row.getByText('done').waitFor()
    await row.getByText('done').click()
    const panel = page.getByRole('complementary', { name: 'Delivery' })
    await panel.getByText('agent:implement', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    // The page of it says everything that it led to, each with a link.
    await row.getByRole('link', { name: 'issues labeled' }).click()
    await page
      .getByRole('heading', { level: 1, name: /Delivery/ })
      .getByText('done')
      .waitFor()
    await page.getByText('agent:implement', { exact: true }).waitFor()
    await page
      .getByRole('main')
      .getByRole('link', { name: /^codehost-implement/ })
      .click()
    await page.getByRole('heading', { level: 1, name: /^codehost-implement/ }).waitFor()
    await context.close()
  })

  it('say why there is nothing to do for one that is of no concern', async () => {
    const { page, context } = await openDashboard(started.service)
    await page.goto('/deliveries?state=ignored')
    await deliver(label('nothing'))
    await page.getByRole('button', { name: 'Redeliver' }).first().click()
    await page.locator('.toast').getByText('there is nothing to do').waitFor()
    await context.close()
  })

  it('are shown to a viewer without the button', async () => {
    await deliver(label('nothing'))
    const token = await createToken(started.service, 'viewer')
    const { page, context } = await openDashboard({ url: started.service.url, token })
    await page.goto('/deliveries')
    await page.getByRole('row').filter({ hasText: 'issues labeled' }).first().waitFor()
    expect(await page.getByRole('button', { name: 'Redeliver' }).count()).toBe(0)
    await context.close()
  })
})
