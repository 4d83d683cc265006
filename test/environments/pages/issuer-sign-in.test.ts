// Signing in at an issuer of OpenID Connect, and what is told when that fails.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, closePages, openBrowser } from '../../fixtures/dashboard/browser.ts'
import { audience, type Issuer, startIssuer } from '../../fixtures/issuer.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

describe.skipIf(chromiumPath === undefined)('an issuer', () => {
  let issuer: Issuer
  let service: Service
  beforeAll(async () => {
    issuer = await startIssuer()
    const oidc = ['--oidc-issuer', issuer.url, '--oidc-audience', audience, '--oidc-allowed-subjects', '*']
    service = await startService({ flags: [...oidc, '--oidc-sign-in-client-id', 'svc-cli'] })
  })
  afterAll(async () => {
    await closePages()
    await service.stop()
    await issuer.stop()
    removeFolder(service.folder)
  })
  const button = { name: /Sign in with 127/ }

  it('signs people in and sends them where they wanted to go', async () => {
    const { page, context, complaints } = await openBrowser(service.url)
    await page.goto('/tasks?phase=Failed')
    await page.getByRole('button', button).click()
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
    expect(page.url()).toBe(`${service.url}/tasks?phase=Failed`)
    const session = JSON.parse(String(await page.evaluate('localStorage.getItem("svc.session")')))
    expect(session).toMatchObject({ source: 'issuer', expiresAt: expect.any(String) })
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    expect(complaints.filter((text) => !text.includes('403'))).toEqual([])
    await context.close()
  })

  it('is believed only where the sign-in was begun', async () => {
    const { page, context } = await openBrowser(service.url)
    await page.goto('/signin/callback?code=stolen&state=made-up')
    await page.getByText(/not begun in this tab/).waitFor()
    await page.getByRole('button', button).waitFor()
    expect(await page.evaluate('localStorage.getItem("svc.session")')).toBeNull()
    await context.close()
  })

  it('that is away is named', async () => {
    const { page, context } = await openBrowser(service.url)
    issuer.setAnswers('errors')
    await page.goto('/')
    await page.getByRole('button', button).click()
    await page.getByText(/cannot be reached/).waitFor()
    issuer.setAnswers('all')
    await context.close()
  })
})
