// Pages that are laid out from right to left: by the browser's language, or because somebody chose.
import { describe, expect, it } from 'vitest'
import { chromiumPath, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { createTask } from '../../scenarios/service.ts'

const arabic = 'مرحبا بالعالم'

describe.skipIf(chromiumPath === undefined)('pages', () => {
  const started = useService()

  it('begin at the right for a browser in Arabic, and at the left for whoever chooses that, for good', async () => {
    const { page, context } = await openDashboard(started.service, { direction: 'rtl' })
    const left = async (name: string) => (await page.getByRole('navigation', { name }).boundingBox())?.x ?? 0
    await settle(page)
    expect(await page.locator('html').getAttribute('dir')).toBe('rtl')
    expect(await left('Pages')).toBeGreaterThan(1000)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('left to right')
    await page.getByRole('option', { name: /left to right/ }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => left('Pages')).toBe(0)
    await page.reload()
    expect(await page.locator('html').getAttribute('dir')).toBe('ltr')
    await context.close()
  })

  it('begin at the left for others', async () => {
    const { page, context } = await openDashboard(started.service)
    expect(await page.locator('html').getAttribute('dir')).toBe('ltr')
    await context.close()
  })

  it('show what people write from the side that it is written from, and code from the left', async () => {
    const command = ['sh', '-c', `echo '${arabic}'; echo plain`]
    await createTask(started.service, 'speaks', { type: 'container', command })
    const { page, context } = await openDashboard(started.service, { direction: 'rtl' })
    await page.goto('/tasks/default/speaks?tab=log')
    const line = page.locator('.log-line bdi').filter({ hasText: arabic })
    await line.waitFor()
    expect(await line.evaluate((one) => one.matches(':dir(rtl)'))).toBe(true)
    expect(
      await page
        .locator('.log-line bdi')
        .filter({ hasText: 'plain' })
        .evaluate((one) => one.matches(':dir(ltr)')),
    ).toBe(true)
    await page.goto('/memories')
    await page.getByRole('button', { name: 'New memory' }).click()
    const field = page.getByRole('dialog').getByRole('textbox').first()
    await field.fill(arabic)
    expect(await field.evaluate((one) => one.matches(':dir(rtl)'))).toBe(true)
    await field.fill('plain words')
    expect(await field.evaluate((one) => one.matches(':dir(ltr)'))).toBe(true)
    await context.close()
  })
})
