// How much a browser fetches until the first page is there, in a real one.
import { get } from 'node:http'
import { describe, expect, it } from 'vitest'
import { chromiumPath, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'

/** Bytes of the file as it is sent to whoever reads gzip. */
function sizeOf(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
      let bytes = 0
      answer.on('data', (piece: Buffer) => {
        bytes += piece.length
      })
      answer.on('end', () => resolve(bytes))
    }).on('error', reject)
  })
}

describe.skipIf(chromiumPath === undefined)('the first load', () => {
  const started = useService()

  it('is under 200 kB of gzip, with styles, font and the first page', async () => {
    const { page, context } = await openDashboard(started.service)
    await page.locator('.chart-bar').first().waitFor({ state: 'attached' })
    await settle(page)
    await page.evaluate('document.fonts.ready')
    const script = '[location.href, ...performance.getEntriesByType("resource").map(({ name }) => name)]'
    const urls = ((await page.evaluate(script)) as string[]).filter((url) => !new URL(url).pathname.startsWith('/api/'))
    const sizes = await Promise.all(urls.map(async (url) => [await sizeOf(url), new URL(url).pathname] as const))
    const sum = sizes.reduce((all, [size]) => all + size, 0)
    // What is large is named where it has become too much.
    expect(sum, JSON.stringify(sizes.toSorted(([a], [b]) => b - a).slice(0, 8))).toBeLessThan(200_000)
    expect(sizes.some(([, path]) => path.endsWith('.woff2'))).toBe(true)
    await context.close()
  })
})
