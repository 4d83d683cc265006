// What a page of another origin can do with the dashboard and the service, in a real browser: nothing.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, closePages, openBrowser, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

describe.skipIf(chromiumPath === undefined)('a page of another origin', () => {
  let service: Service
  let other: Server
  let otherUrl: string
  beforeAll(async () => {
    service = await startService()
    other = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title><p>other</p>')
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    await closePages()
    other.closeAllConnections()
    other.close()
    await service.stop()
    removeFolder(service.folder)
  })

  it('cannot frame the dashboard, of somebody who is signed in', async () => {
    const { page, context } = await openDashboard(service)
    await settle(page)
    await page.goto(otherUrl)
    const refused = page.waitForEvent('console', (message) => message.text().includes('frame'))
    await page.evaluate(`{
      const frame = document.createElement('iframe')
      frame.src = ${JSON.stringify(`${service.url}/tasks`)}
      document.body.append(frame)
    }`)
    expect((await refused).text()).toContain('frame-ancestors')
    await context.close()
  })

  it('cannot read from the service, nor sign in with a link it has come by', async () => {
    const { page, context } = await openBrowser(otherUrl)
    await page.goto('/')
    const tryIt = (path: string, init: object) =>
      page.evaluate(
        `fetch(${JSON.stringify(service.url + path)}, ${JSON.stringify(init)}).then((a) => a.type + a.status, () => 'refused')`,
      )
    const headers = { authorization: `Bearer ${service.token}` }
    expect(await tryIt('/api/v1/tasks', { headers })).toBe('refused')
    expect(await tryIt('/', {})).toBe('refused')
    const { body } = await service.call<{ code: string }>('POST', '/api/v1/auth/links')
    const sent = { method: 'POST', body: JSON.stringify({ code: body.code }) }
    const json = { ...sent, headers: { 'content-type': 'application/json' } }
    expect(await tryIt('/api/v1/auth/links/exchange', json)).toBe('refused')
    // Without a preflight it arrives, but is no JSON.
    expect(await tryIt('/api/v1/auth/links/exchange', { ...sent, mode: 'no-cors' })).toBe('opaque0')
    const mine = await fetch(`${service.url}/api/v1/auth/links/exchange`, {
      ...json,
      headers: json.headers,
    })
    expect(mine.status).toBe(201)
    await context.close()
  })

  it('that opens the dashboard has no hold on its window', async () => {
    const { page, context } = await openBrowser(otherUrl)
    await page.goto('/')
    const opening = context.waitForEvent('page')
    await page.evaluate(`window.opened = window.open(${JSON.stringify(`${service.url}/`)})`)
    const opened = await opening
    await opened.waitForLoadState()
    expect(await opened.evaluate('window.opener')).toBeNull()
    expect(await page.evaluate('window.opened.closed')).toBe(true)
    await context.close()
  })
})
