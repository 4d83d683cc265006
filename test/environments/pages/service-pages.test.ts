// The audit log, tokens and secrets, in a real browser.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, closePages, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { make } from '../../fixtures/dashboard/samples/make.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

let service: Service
let page: Page

describe.skipIf(chromiumPath === undefined)('pages of the service', () => {
  beforeAll(async () => {
    service = await startService()
    const { token } = await make<{ token: string }>(service, '/api/v1/tokens', { name: 'mine', role: 'owner' })
    page = (await openDashboard({ url: service.url, token })).page
  })
  afterAll(async () => {
    await closePages()
    await service.stop()
    removeFolder(service.folder)
  })

  it('makes a token, shows it once, and revokes it', async () => {
    await page.goto('/tokens')
    const table = page.getByRole('table', { name: 'Tokens' })
    await table.getByRole('row', { name: /mine Yours/ }).waitFor()
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByRole('textbox', { name: /^Name \(/ }).fill('night-job')
    await page.getByLabel(/^Ends/).fill('soon')
    await page.getByRole('button', { name: 'Create' }).click()
    await expect.poll(() => page.getByLabel(/^Ends/).getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel(/^Ends/).fill('12h')
    await page.getByLabel('Role').selectOption('viewer')
    await page.getByRole('button', { name: 'Create' }).click()
    const token = (await page.locator('[data-token]').textContent()) ?? ''
    const ask = () => fetch(new URL('/api/v1/tasks', service.url), { headers: { authorization: `Bearer ${token}` } })
    expect((await ask()).status).toBe(200)
    await page.getByRole('button', { name: 'I have kept it' }).click()
    await table.getByText('night-job').waitFor()
    expect(await page.content()).not.toContain(token)
    await page.getByRole('button', { name: 'Revoke night-job' }).click()
    await page.getByRole('button', { name: 'Revoke the token' }).click()
    await table.getByText('night-job', { exact: true }).waitFor({ state: 'detached' })
    expect((await ask()).status).toBe(401)
  })

  it('makes a secret, replaces a value without showing one, and deletes it', async () => {
    await page.goto('/secrets')
    await page.getByText('There are no secrets yet').waitFor()
    await page.getByRole('button', { name: 'New secret' }).click()
    await page.getByRole('textbox', { name: /^Name \(/ }).fill('vendor')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('must have at least one entry').first().waitFor()
    await page.getByLabel('Value', { exact: true }).fill('made-up-first-value')
    await page.getByRole('button', { name: 'Another entry' }).click()
    await page.getByLabel('Entry', { exact: true }).last().fill('second')
    await page.getByLabel('Value', { exact: true }).last().fill('made-up-second-value')
    await page.getByRole('button', { name: 'Create' }).click()
    const table = page.getByRole('table', { name: 'Secrets' })
    await table.getByText('api-key, second').waitFor()
    expect(await page.content()).not.toContain('made-up-first-value')
    await page.getByRole('button', { name: 'Change values of vendor' }).click()
    expect(await page.getByLabel('Value', { exact: true }).first().inputValue()).toBe('')
    await page.getByLabel('Value', { exact: true }).first().fill('made-up-third-value')
    await page.getByRole('checkbox', { name: 'second' }).check()
    await page.getByRole('button', { name: 'Replace' }).click()
    await table.getByText('api-key', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete vendor' }).click()
    // It stands in a cell of the table, and must not take over how text is set there.
    const style = 'getComputedStyle(document.querySelector("dialog[open]")).whiteSpace'
    expect(await page.evaluate(style)).toBe('normal')
    await page.getByRole('button', { name: 'Delete the secret' }).click()
    await page.getByText('There are no secrets yet').waitFor()
  })

  it('shows who did what, filters it, and tells each record in full', async () => {
    await page.goto('/audit')
    const table = page.getByRole('table', { name: 'Records of the audit log' })
    await table.getByRole('button', { name: 'delete Secret vendor' }).waitFor()
    await page.getByLabel('Kind').selectOption('Token')
    await page.getByLabel('Verb').selectOption('create')
    await expect
      .poll(() => table.getByRole('button').allTextContents())
      .toEqual(['create Token night-job', 'create Token ', 'create Token mine'])
    await table.focus()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const record = page.getByRole('dialog')
    await record.getByText('night-job').waitFor()
    await record.getByRole('button', { name: 'Only this caller' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('caller')).toBeTruthy()
    await table.getByRole('button', { name: 'create Token night-job' }).waitFor()
    await page.getByLabel('Until').fill('2020-01-01 00:00')
    await page.getByLabel('Until').press('Enter')
    await page.getByText('Nothing of that sort is recorded').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await table.getByRole('button', { name: 'delete Secret vendor' }).waitFor()
  })

  it('keeps all three from a caller who may only read', async () => {
    const { token } = await make<{ token: string }>(service, '/api/v1/tokens', { name: 'reader', role: 'viewer' })
    const reader = await openDashboard({ url: service.url, token })
    for (const address of ['/tokens', '/audit']) {
      await reader.page.goto(address)
      await reader.page
        .getByRole('alert')
        .getByText(/Ask whoever runs this service/)
        .waitFor()
    }
    await reader.context.close()
  })
})
