// One browser, several people: what one of them saw and began is not there for the next.
import { describe, expect, it } from 'vitest'
import { chromiumPath, openBrowser, settle } from '../../fixtures/dashboard/browser.ts'
import { createToken, useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { createTask } from '../../scenarios/service.ts'

const shell = (script: string) => ({ type: 'container', command: ['sh', '-c', script] })

describe.skipIf(chromiumPath === undefined)('the next one at a browser', () => {
  const started = useService()

  async function open(token: string) {
    const opened = await openBrowser(started.service.url)
    const signIn = async (other: string) => {
      await opened.page.getByLabel('Token').fill(other)
      await opened.page.getByRole('button', { name: 'Sign in' }).click()
      await opened.page.getByRole('button', { name: 'Sign out' }).waitFor()
    }
    await opened.page.goto('/')
    await signIn(token)
    return { ...opened, signIn }
  }
  const keptToken = 'JSON.parse(localStorage.getItem("svc.session"))?.token'

  it('sees neither notes, nor the address, nor the name of the page of the one before', async () => {
    const { service } = started
    await createTask(service, 'private-matter', shell('sleep 600'))
    const { page, context, signIn } = await open(service.token)
    await page.goto('/tasks/default/private-matter')
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('button', { name: 'Cancel the task' }).click()
    await page.getByText('private-matter is cancelled').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out').waitFor()
    const left = () => page.evaluate('document.title + location.href + document.body.innerText')
    expect(await left()).not.toContain('private-matter')
    await signIn(await createToken(service, 'viewer', 'elsewhere'))
    await settle(page)
    expect(await left()).not.toContain('private-matter')
    await context.close()
  })

  it('is not signed out by an answer to the one before that comes late', async () => {
    const { service } = started
    const first = await createToken(service, 'viewer', 'first')
    const second = await createToken(service, 'viewer', 'second')
    const { page, context, signIn } = await open(first)
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/api/v1/agents*', async (route) => {
      if (!String(route.request().headers().authorization).includes(first)) return route.continue()
      await held
      return route.fulfill({ status: 401, json: { error: { code: 'Unauthenticated', message: 'revoked' } } })
    })
    await page.getByRole('link', { name: 'Agents' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(second)
    const late = page.waitForResponse((response) => response.status() === 401)
    release()
    await late.catch(() => undefined)
    await page.getByRole('link', { name: 'Tasks' }).click()
    await settle(page)
    expect(await page.evaluate(keptToken)).toBe(second)
    await context.close()
  })
})

describe.skipIf(chromiumPath === undefined)('a browser', () => {
  const started = useService()

  it.each(['forbidden', 'full'])('whose storage is %s shows the dashboard as long as the tab is open', async (how) => {
    const { service } = started
    const { page, context, complaints } = await openBrowser(service.url)
    await context.addInitScript(
      how === 'forbidden'
        ? `for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() {
             throw new DOMException('Access is denied for this document.', 'SecurityError') } })`
        : `Storage.prototype.setItem = () => { throw new DOMException('The quota has been exceeded.', 'QuotaExceededError') }`,
    )
    await page.goto('/')
    await page.getByLabel('Token').fill(service.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('button', { name: /^Use dark/ }).click()
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  it.each(['%', '%E0%A4%A', '', '/../x', 'a'.repeat(5000)])(
    'that is given a made-up sign-in link says that it is none: %.20s',
    async (code) => {
      const { page, context } = await openBrowser(started.service.url)
      await page.goto(`/tasks#signin=${code}`)
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await page.getByRole('alert').waitFor()
      expect(new URL(page.url()).hash).toBe('')
      await context.close()
    },
  )
})
