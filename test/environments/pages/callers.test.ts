// Who looks: signing in and out, and that each sees only what they may.
import { describe, expect, it } from 'vitest'
import { chromiumPath, openBrowser, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { createToken, useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { createTask } from '../../scenarios/service.ts'

const shell = (script: string) => ({ type: 'container', command: ['sh', '-c', script] })

describe.skipIf(chromiumPath === undefined)('whoever looks at the dashboard', () => {
  const started = useService()

  it('signs in with a token, is told when it is wrong, and signs out in all tabs', async () => {
    const { service } = started
    const { page, context } = await openBrowser(service.url)
    await page.goto('/tasks')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Paste a token.').waitFor()
    await page.getByLabel('Token').fill('tökén, of another')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This is no token').waitFor()
    await page.getByLabel('Token').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This token is not known here').waitFor()
    await page.getByLabel('Token').fill(service.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    // Where one wanted to go.
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
    const other = await context.newPage()
    await other.goto('/')
    await other.getByRole('heading', { name: 'Overview' }).waitFor()
    await other.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await page.evaluate('JSON.stringify([localStorage.getItem("svc.session"), document.cookie])')).toBe(
      '[null,""]',
    )
    await context.close()
  })

  it('signs in by a link once, with a token of its own that signing out revokes', async () => {
    const { service } = started
    const link = await service.call<{ code: string }>('POST', '/api/v1/auth/links')
    const { page, context } = await openBrowser(service.url)
    await page.goto(`/tasks#signin=${link.body.code}`)
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
    expect(page.url()).toBe(`${service.url}/tasks`)
    const { token } = JSON.parse(String(await page.evaluate('localStorage.getItem("svc.session")')))
    expect(token).not.toBe(service.token)
    const other = await createToken(service, 'viewer')
    const strange = await fetch(`${service.url}/api/v1/auth/links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${other}` },
    })
    const { code } = (await strange.json()) as { code: string }
    await page.goto(`/#signin=${code}`)
    await page.reload()
    await page.getByTitle('owner', { exact: true }).first().waitFor()
    const answer = () => fetch(`${service.url}/api/v1/auth/validate`, { headers: { authorization: `Bearer ${token}` } })
    expect((await answer()).status).toBe(200)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await expect.poll(async () => (await answer()).status).toBe(401)
    const again = await openBrowser(service.url)
    await again.page.goto(`/#signin=${link.body.code}`)
    await again.page.getByText(/This link has been used/).waitFor()
    await again.context.close()
    await context.close()
  })

  it('sends the token in the header only, and never in an address', async () => {
    const { service } = started
    const { page, context } = await openDashboard(service)
    const addresses: string[] = []
    const without: string[] = []
    page.on('request', (request) => {
      addresses.push(request.url())
      const isApi = new URL(request.url()).pathname.startsWith('/api/')
      if (isApi && request.headers().authorization !== `Bearer ${service.token}`) without.push(request.url())
      if (request.headers().cookie !== undefined) without.push(`${request.url()} has a cookie`)
    })
    await page.goto('/tasks')
    await settle(page)
    expect(addresses.length).toBeGreaterThan(3)
    expect(addresses.filter((address) => address.includes(service.token))).toEqual([])
    expect(without).toEqual([])
    await context.close()
  })

  it('sees only the namespace that the token is bound to, and nothing of another one by its address', async () => {
    const { service } = started
    for (const namespace of ['team-a', 'team-b'])
      await createTask(service, `of-${namespace}`, shell('echo secret'), { namespace })
    const token = await createToken(service, 'viewer', 'team-a')
    const { page, context } = await openDashboard({ url: service.url, token })
    await page.goto('/tasks')
    await page.getByRole('row', { name: /of-team-a/ }).waitFor()
    expect(await page.getByText('of-team-b').count()).toBe(0)
    expect(await page.getByLabel('Namespace').count()).toBe(0)
    await createTask(service, 'later-in-b', shell('echo secret'), { namespace: 'team-b' })
    await createTask(service, 'later-in-a', shell('echo secret'), { namespace: 'team-a' })
    await page.getByRole('row', { name: /later-in-a/ }).waitFor()
    expect(await page.getByText('later-in-b').count()).toBe(0)
    await page.goto('/tasks/team-b/of-team-b?tab=log')
    await page.getByRole('alert').first().waitFor()
    expect(await page.getByText('secret', { exact: true }).count()).toBe(0)
    await context.close()
  })

  it('is asked to sign in again when the token is taken away', async () => {
    const { service } = started
    const token = await createToken(service, 'editor')
    const { page, context } = await openDashboard({ url: service.url, token })
    await page.goto('/tasks')
    await settle(page)
    const { body } = await service.call<{ items: { id: string; name: string }[] }>('GET', '/api/v1/tokens')
    const own = body.items.find(({ name }) => name === 'editor-all')
    await service.call('DELETE', `/api/v1/tokens/${own?.id}`)
    // The init script of this browser would sign in again on the next page.
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByText(/session has ended/).waitFor()
    await context.close()
  })
})
