// The command palette and the keys that work on every page.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromiumPath, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { createToken, useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { make } from '../../fixtures/dashboard/samples/make.ts'
import { createTask } from '../../scenarios/service.ts'

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })
const focused = (page: Page) => page.evaluate('document.activeElement.tagName')

describe.skipIf(chromiumPath === undefined)('the command palette', () => {
  const started = useService()

  async function open(token = started.service.token) {
    const opened = await openDashboard({ url: started.service.url, token })
    await settle(opened.page)
    const seek = async (text: string) => {
      await opened.page.keyboard.press('Control+k')
      await opened.page.getByRole('combobox', { name: 'What are you looking for?' }).fill(text)
    }
    return { ...opened, seek }
  }

  it('finds objects of every kind by the search of the service, pages and what can be done', async () => {
    const { service } = started
    await createTask(service, 'find-this-task', { type: 'container', command: ['true'] })
    await make(service, '/api/v1/agents', { name: 'find-this-agent', spec: { model: { name: 'm' } } })
    const { page, context, seek, complaints } = await open()
    await seek('FIND-this')
    await page.getByRole('option', { name: /default\/find-this-task/ }).waitFor()
    await page.getByRole('option', { name: /default\/find-this-agent/ }).click()
    await heading(page, 'find-this-agent').waitFor()
    await seek('Proposals')
    await page.keyboard.press('Enter')
    await heading(page, 'Proposals to remember').waitFor()
    await seek('create budget')
    await page.keyboard.press('Enter')
    await heading(page, 'New budget').waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  it('offers a viewer nothing to create', async () => {
    const { page, context, seek } = await open(await createToken(started.service, 'viewer'))
    await seek('create')
    await page.getByText('Nothing is called that.').waitFor()
    await context.close()
  })

  it('has keys that create, filter and say what keys there are', async () => {
    const { page, context } = await open()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Send the form').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Tasks', exact: true }).click()
    await heading(page, 'Tasks').waitFor()
    expect(await focused(page)).toBe('H1')
    await page.keyboard.press('/')
    expect(await page.evaluate('document.activeElement.type')).toBe('search')
    await page.getByRole('link', { name: 'Agents', exact: true }).click()
    await heading(page, 'Agents').waitFor()
    await page.keyboard.press('c')
    await heading(page, 'Create agent').waitFor()
    await context.close()
  })

  it('sends a form by Ctrl Enter, and begins a new task at its first field', async () => {
    const { page, context } = await open()
    await page.keyboard.press('c')
    await heading(page, 'New task').waitFor()
    await page.getByRole('radio', { name: 'Run a command' }).check()
    await page.getByRole('textbox', { name: /^Command/ }).fill('true')
    await page.keyboard.press('Control+Enter')
    await page.waitForURL(/\/tasks\/default\//)
    await context.close()
  })
})
