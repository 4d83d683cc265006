// The list of tasks and the form for a new one, in a real browser.
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, type OpenedDashboard, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { createToken, useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { createTask, getTask, waitForPhase } from '../../scenarios/service.ts'

const shell = (script: string, more: object = {}) => ({ type: 'container', command: ['sh', '-c', script], ...more })

describe.skipIf(chromiumPath === undefined)('the list of tasks', () => {
  const started = useService()
  let opened: OpenedDashboard
  beforeAll(async () => {
    const { service } = started
    await createTask(service, 'good-one', shell('true'), { labels: { team: 'search' } })
    await createTask(service, 'bad-one', shell('exit 3', { retryPolicy: { maxRetries: 0 } }))
    await createTask(service, 'endless', shell('sleep 600'))
    await waitForPhase(service, 'good-one', 'Succeeded')
    await waitForPhase(service, 'bad-one', 'Failed')
    opened = await openDashboard(service)
  })
  afterEach(() => expect(opened.complaints.splice(0)).toEqual([]))

  const names = () => opened.page.getByRole('table', { name: 'Tasks' }).getByRole('link')
  const shown = () => expect.poll(async () => (await names().allTextContents()).toSorted())
  const button = (name: string | RegExp) => opened.page.getByRole('button', { name })

  it('is filtered by what stands in the address', async () => {
    const { page } = opened
    await page.goto('/tasks')
    await shown().toEqual(['bad-one', 'endless', 'good-one'])
    await page.getByRole('combobox', { name: 'State' }).selectOption('Failed')
    await shown().toEqual(['bad-one'])
    expect(new URL(page.url()).searchParams.get('phase')).toBe('Failed')
    await page.reload()
    await shown().toEqual(['bad-one'])
    await button('Show all').click()
    await page.getByRole('searchbox', { name: 'Text in the name' }).fill('ONE')
    await shown().toEqual(['bad-one', 'good-one'])
    await page.getByRole('searchbox', { name: 'Labels' }).fill('team!=search')
    await page.keyboard.press('Enter')
    await shown().toEqual(['bad-one'])
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ q: 'ONE', label: 'team!=search' })
  })

  it('is sorted by the service by what its heads say, and opens a task wherever its row is clicked', async () => {
    const { page } = opened
    await page.goto('/tasks')
    const inOrder = () => expect.poll(() => names().allTextContents())
    await inOrder().toEqual(['endless', 'bad-one', 'good-one'])
    const head = (name: string) => page.getByRole('columnheader', { name })
    await head('Created').getByRole('button').click()
    await inOrder().toEqual(['good-one', 'bad-one', 'endless'])
    expect(await head('Created').getAttribute('aria-sort')).toBe('ascending')
    await head('Name').getByRole('button').click()
    await inOrder().toEqual(['bad-one', 'endless', 'good-one'])
    expect(new URL(page.url()).searchParams.get('sort')).toBe('name')
    await page.getByText('3 tasks').waitFor()
    await page
      .getByRole('row', { name: /endless/ })
      .getByRole('cell', { name: 'container' })
      .click()
    await page.getByRole('heading', { level: 1 }).getByText('endless').waitFor()
  })

  /** Pages of one task each, with these costs. */
  async function servePages(costs: Record<string, number>, maxPages: number): Promise<void> {
    await opened.page.route(/\/api\/v1\/tasks\?/, async (route) => {
      const url = new URL(route.request().url())
      if (url.searchParams.get('view') !== 'summary') return route.fallback()
      url.searchParams.set('limit', String(maxPages))
      const response = await route.fetch({ url: String(url) })
      const body = (await response.json()) as { items: { metadata: { name: string }; status: object }[] }
      for (const item of body.items) {
        const cost = costs[item.metadata.name]
        if (cost !== undefined) item.status = { ...item.status, usage: { cost, currency: 'USD' } }
      }
      return route.fulfill({ response, json: body })
    })
  }

  it('is sorted by cost over all pages, though the service has no such order', async () => {
    const { page } = opened
    await servePages({ 'good-one': 0.5, 'bad-one': 2 }, 1)
    await page.goto('/tasks')
    const inOrder = () => expect.poll(() => names().allTextContents())
    const head = page.getByRole('columnheader', { name: 'Cost' })
    await head.getByRole('button').click()
    // What has no cost comes last, either way.
    await inOrder().toEqual(['bad-one', 'good-one', 'endless'])
    expect(await head.getAttribute('aria-sort')).toBe('descending')
    await head.getByRole('button').click()
    await inOrder().toEqual(['good-one', 'bad-one', 'endless'])
    expect(new URL(page.url()).searchParams.get('sort')).toBe('cost')
    await page.getByRole('columnheader', { name: 'Created' }).getByRole('button').click()
    await inOrder().toEqual(['endless', 'bad-one', 'good-one'])
    await page.unrouteAll({ behavior: 'wait' })
  })

  it('says of how many rows it is in order while the others are being read', async () => {
    const { page } = opened
    let release = () => {}
    const isReleased = new Promise<void>((resolve) => {
      release = resolve
    })
    await servePages({}, 1)
    await page.route(/\/api\/v1\/tasks\?.*continue=/, async (route) => {
      await isReleased
      await route.fallback()
    })
    await page.goto('/tasks?sort=-duration')
    await page.getByText('Sorted among the 1 that were read of 3. The others are being read.').waitFor()
    release()
    await page.getByText(/Sorted among/).waitFor({ state: 'detached' })
    await expect.poll(async () => (await names().allTextContents())[0]).toBe('endless')
    await page.unrouteAll({ behavior: 'wait' })
  })

  it('can be marked with a finger and sorted on a narrow screen', async () => {
    const { page } = opened
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto('/tasks')
    await page.getByRole('checkbox', { name: 'Choose bad-one' }).check()
    await page.getByText('1 task chosen').waitFor()
    await button('Delete 1').waitFor()
    await page.getByRole('columnheader', { name: 'Duration' }).getByRole('button').click()
    await expect.poll(async () => (await names().allTextContents())[0]).toBe('endless')
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  it('asks the service for names, so that it also finds what is not loaded, and shows new ones that match', async () => {
    const { page } = opened
    const asked: (string | null)[] = []
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (url.pathname === '/api/v1/tasks') asked.push(url.searchParams.get('search'))
    })
    await page.goto('/tasks')
    await page.getByRole('searchbox', { name: 'Text in the name' }).pressSequentially('Bad one', { delay: 30 })
    await page.getByText('No task matches').waitFor()
    await page.getByRole('searchbox', { name: 'Text in the name' }).fill('bAd')
    await shown().toEqual(['bad-one'])
    expect(asked.at(-1)).toBe('bAd')
    const reads = asked.length
    await createTask(started.service, 'another-bad-one', shell('true'))
    await createTask(started.service, 'another', shell('true'))
    await shown().toEqual(['another-bad-one', 'bad-one'])
    expect(asked.slice(reads)).toEqual([])
    for (const name of ['another-bad-one', 'another']) await started.service.call('DELETE', `/api/v1/tasks/${name}`)
  })

  it('shows new tasks that match by their labels, without being read again', async () => {
    const { page } = opened
    const reads: string[] = []
    await page.goto('/tasks?label=team%3Dads,!old')
    await page.getByText('No task matches').waitFor()
    page.on('request', (request) => reads.push(request.url()))
    await createTask(started.service, 'ad-one', shell('true'), { labels: { team: 'ads' } })
    await shown().toEqual(['ad-one'])
    expect(reads.filter((url) => url.includes('/api/v1/tasks'))).toEqual([])
  })

  it('cancels and deletes the chosen ones after a question', async () => {
    const { page } = opened
    for (const name of ['one', 'two']) await createTask(started.service, `many-${name}`, shell('sleep 600'))
    await page.goto('/tasks?q=many')
    await shown().toEqual(['many-one', 'many-two'])
    // By keyboard and by pointer.
    await page.getByRole('table', { name: 'Tasks' }).focus()
    await page.keyboard.press('j')
    await page.keyboard.press(' ')
    await page.getByText('1 task chosen').waitFor()
    await button('Choose all shown').click()
    await button('Cancel 2').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 2 tasks' }).click()
    await page.getByText('2 tasks are cancelled').waitFor()
    await waitForPhase(started.service, 'many-two', 'Cancelled')
    for (const name of ['one', 'two']) await page.getByRole('checkbox', { name: `Choose many-${name}` }).check()
    await button('Delete 2').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 tasks' }).click()
    await page.getByText('No task matches').waitFor()
    expect((await started.service.call('GET', '/api/v1/tasks/many-one')).status).toBe(404)
  })

  it('shows each filter as a chip that can be taken away, and views that were saved', async () => {
    const { page } = opened
    await page.goto('/tasks?phase=Failed&q=one')
    await shown().toEqual(['bad-one'])
    const chips = page.getByRole('list', { name: 'Filters that are set' })
    await button('Save view…').click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('My failures')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await chips.getByRole('button', { name: /State: Failed/ }).click()
    await shown().toEqual(['ad-one', 'bad-one', 'good-one'])
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ q: 'one' })
    await page.goto('/tasks')
    const views = page.getByRole('navigation', { name: 'Saved views' })
    await views.getByRole('link', { name: 'My failures' }).click()
    await shown().toEqual(['bad-one'])
    // Another person at this browser has views of their own.
    const token = await createToken(started.service, 'viewer')
    const other = await opened.context.newPage()
    await other.addInitScript(
      `localStorage.setItem('svc.session', ${JSON.stringify(JSON.stringify({ token, source: 'token' }))})`,
    )
    await other.goto('/tasks?phase=Failed')
    await other.getByRole('button', { name: 'Save view…' }).waitFor()
    expect(await other.getByRole('link', { name: 'My failures' }).count()).toBe(0)
    await other.close()
    await page.goto('/tasks?q=one&phase=Failed')
    await button('Forget view').click()
    await button('Save view…').waitFor()
    await page.goto('/tasks')
    expect(await views.count()).toBe(0)
  })

  it('tries the chosen ones again that have ended, and names each that the service refused', async () => {
    const { page } = opened
    await page.goto('/tasks?q=one')
    for (const name of ['good-one', 'bad-one']) await page.getByRole('checkbox', { name: `Choose ${name}` }).check()
    await page.route('**/api/v1/tasks/good-one/retry?**', (route) =>
      route.fulfill({ status: 409, json: { error: { code: 'Conflict', reason: 'Conflict', message: 'not now <b>' } } }),
    )
    await button('Retry 2').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 2 tasks' }).click()
    await page.getByText('1 task is retried').waitFor()
    const refused = page.getByRole('dialog', { name: '1 task not retried' }).getByRole('listitem')
    await expect.poll(() => refused.allTextContents()).toEqual(['good-one: not now <b>'])
    await page.unroute('**/api/v1/tasks/good-one/retry?**')
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await page.getByRole('link', { name: 'bad-one-retry-1' }).waitFor()
    await started.service.call('DELETE', '/api/v1/tasks/bad-one-retry-1')
    // The browser tells of the answer 409.
    expect(opened.complaints.splice(0)).toHaveLength(1)
  })

  it('says what is wrong with a text that is no task', async () => {
    const { page } = opened
    await page.goto('/tasks/new?tab=yaml')
    const problems = { '': 'There must be fields', '- a': 'There must be fields', 'a: &a { b: *a }': 'would never end' }
    for (const [text, problem] of Object.entries(problems)) {
      await page.getByRole('textbox', { name: 'Task' }).fill(text)
      await button('Create task').click()
      await page.getByText(problem).waitFor()
    }
  })

  it('makes a task by a form, which shows problems at their fields', async () => {
    const { page } = opened
    await page.goto('/tasks')
    await page.getByRole('link', { name: 'New task' }).click()
    await page.getByRole('radio', { name: 'Run a command' }).check()
    await page.getByRole('textbox', { name: /^Command/ }).fill('echo "from the form"')
    await page.getByText('Name, namespace, time limit, schedule').click()
    const limit = page.getByRole('textbox', { name: 'Time limit' })
    await limit.fill('soon')
    await button('Create task').click()
    await expect.poll(() => limit.getAttribute('aria-invalid')).toBe('true')
    // The browser tells of the answer 400.
    expect(opened.complaints.splice(0)).toHaveLength(1)
    await limit.fill('5m')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('of-the-form')
    await button('Create task').click()
    await page.getByRole('heading', { level: 1 }).getByText('of-the-form').waitFor()
    expect((await getTask(started.service, 'of-the-form')).spec).toMatchObject({ type: 'container', timeout: '5m' })
  })

  it('makes a task of YAML, and a copy of one', async () => {
    const { page } = opened
    await page.goto('/tasks/default/good-one')
    await button('Clone').click()
    const text = page.getByRole('textbox', { name: 'Task' })
    const copy = await text.inputValue()
    expect(copy).toContain('team: search')
    expect(copy).not.toContain('requestedBy')
    await text.fill('name: [')
    await button('Create task').click()
    await expect.poll(() => text.getAttribute('aria-invalid')).toBe('true')
    await text.fill(copy.replace(/name: good-one-\w+/, 'name: copied'))
    await button('Create task').click()
    await page.getByRole('heading', { level: 1 }).getByText('copied').waitFor()
    expect((await getTask(started.service, 'copied')).metadata.labels).toMatchObject({ team: 'search' })
  })

  it('has only the rows in sight in the page, and goes to the end of a long list by one key', async () => {
    const { page } = opened
    // More than is read at once.
    const names = Array.from({ length: 520 }, (_, index) => `row-${index}`)
    for (let at = 0; at < names.length; at += 40) {
      const batch = names.slice(at, at + 40)
      await Promise.all(batch.map((name) => createTask(started.service, name, shell('true', { suspend: true }))))
    }
    await page.goto('/tasks')
    const table = page.getByRole('table', { name: 'Tasks' })
    const row = (number: number) => table.locator(`[aria-rowindex="${number + 1}"][aria-busy="false"]`)
    await row(1).waitFor()
    const last = Number(await table.getAttribute('aria-rowcount')) - 1
    expect(last).toBeGreaterThan(names.length)
    expect(await table.getByRole('row').count()).toBeLessThan(60)
    await table.focus()
    await page.keyboard.press('End')
    await row(last).waitFor()
    expect(await table.getByRole('row').count()).toBeLessThan(60)
    expect(await row(1).count()).toBe(0)
    await page.keyboard.press('Home')
    await row(1).waitFor()
  })
})
