// Config maps in a real browser: written, changed, not overwritten, deleted.
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, type OpenedDashboard, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { createToken, useService } from '../../fixtures/dashboard/dashboard-tests.ts'

describe.skipIf(chromiumPath === undefined)('config maps', () => {
  const started = useService()
  let opened: OpenedDashboard
  beforeAll(async () => {
    opened = await openDashboard(started.service)
  })
  afterEach(() => expect(opened.complaints.splice(0)).toEqual([]))

  const button = (name: string) => opened.page.getByRole('button', { name, exact: true })
  const read = (name: string) =>
    started.service.call<{ data: object; metadata: object }>('GET', `/api/v1/configmaps/${name}`)

  it('are written with several texts, and shown', async () => {
    const { page } = opened
    await page.goto('/config-maps')
    await page.getByText('There are no config maps yet').waitFor()
    await page.getByRole('link', { name: 'New config map' }).click()
    await page.getByLabel('Name (required)').fill('Not a name')
    await button('Create the config map').click()
    await page.getByLabel('Name (required)').and(page.locator('[aria-invalid="true"]')).waitFor()
    // The browser tells of the answer 400.
    expect(opened.complaints.splice(0)).toHaveLength(1)
    await page.getByLabel('Name (required)').fill('prompts.v1')
    await page.getByLabel('Entry', { exact: true }).fill('reviewer.md')
    await page.getByLabel('Text', { exact: true }).fill('You are careful.')
    await button('Another entry').click()
    await page.getByLabel('Entry', { exact: true }).nth(1).fill('poet.md')
    await page.getByLabel('Text', { exact: true }).nth(1).fill('You are a poet.')
    await button('Create the config map').click()
    await page.getByRole('heading', { level: 1, name: 'prompts.v1' }).waitFor()
    await page.getByRole('region', { name: 'Text of poet.md' }).getByText('You are a poet.').waitFor()
    expect((await read('prompts.v1')).body.data).toEqual({
      'reviewer.md': 'You are careful.',
      'poet.md': 'You are a poet.',
    })
  })

  it('are changed, and what somebody else has changed meanwhile is not overwritten', async () => {
    const { page } = opened
    const { service } = started
    await page.goto('/config-maps/default/prompts.v1')
    await button('Change').click()
    await button('Remove the entry').first().click()
    await page.getByLabel('Text', { exact: true }).fill('You are a poet of few words.')
    await button('Save').click()
    await page.getByText('You are a poet of few words.').waitFor()
    expect((await read('prompts.v1')).body.data).toEqual({ 'poet.md': 'You are a poet of few words.' })
    await button('Change').click()
    await service.call('PUT', '/api/v1/configmaps/prompts.v1', { data: { 'poet.md': 'of another' } })
    await button('Save').click()
    await page.getByRole('alert').waitFor()
    expect((await read('prompts.v1')).body.data).toEqual({ 'poet.md': 'of another' })
    // The browser tells of the answer 409.
    expect(opened.complaints.splice(0)).toHaveLength(1)
  })

  it('are read by a viewer, who is offered nothing else', async () => {
    const token = await createToken(started.service, 'viewer')
    const { page, context } = await openDashboard({ url: started.service.url, token })
    await page.goto('/config-maps')
    await page.getByRole('link', { name: 'prompts.v1' }).click()
    await page.getByText('of another').waitFor()
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
    await page.goto('/config-maps/new')
    await page.getByText('Your role may not create config maps').waitFor()
    await context.close()
  })

  it('are found by name, and deleted after a question', async () => {
    const { page } = opened
    await page.goto('/config-maps?q=nothing')
    await page.getByText('No config map matches').waitFor()
    await page.getByRole('button', { name: 'Name: nothing' }).click()
    await page.getByRole('link', { name: 'prompts.v1' }).click()
    await button('Delete').click()
    await button('Delete the config map').click()
    await page.getByText('There are no config maps yet').waitFor()
    expect((await read('prompts.v1')).status).toBe(404)
  })
})
