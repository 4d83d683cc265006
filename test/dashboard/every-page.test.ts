// Every page of the dashboard, in a real browser: what axe finds, what the page complains of, and what does not fit.
import { AxeBuilder } from '@axe-core/playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  chromiumPath,
  closeBrowser,
  looks,
  type OpenedDashboard,
  openDashboard,
  settle,
} from '../fixtures/dashboard/browser.ts'
import { type FilledService, startFilledService } from '../fixtures/dashboard/filled-service.ts'
import { findOverlaps } from '../fixtures/dashboard/overlaps.ts'
import { removeFolder } from '../scenarios/service.ts'

/** Only addresses that this matches, while one view is worked on: `SVC_TEST_PAGES=agents`. */
const wanted = new RegExp(process.env.SVC_TEST_PAGES ?? '')

/** What axe finds against WCAG 2.2 AA, each with the element it found it at. */
async function findBarriers({ page }: OpenedDashboard): Promise<string[]> {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

describe.skipIf(chromiumPath === undefined)('every page', () => {
  let filled: FilledService
  beforeAll(async () => {
    filled = await startFilledService()
  })
  afterAll(async () => {
    await closeBrowser()
    await filled.service.stop()
    removeFolder(filled.service.folder)
  })

  it.each(looks)(
    'has no barriers, no errors and nothing that sticks out: $theme, $width px, $direction',
    async (look) => {
      const opened = await openDashboard(filled.service, look)
      const found: Record<string, string[]> = {}
      for (const address of filled.addresses.filter((one) => wanted.test(one))) {
        await opened.page.goto(address)
        await settle(opened.page)
        const overflow = await opened.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
        found[address] = [
          ...(await findBarriers(opened)),
          ...opened.complaints.splice(0),
          ...(Number(overflow) > 0 ? [`${overflow} px stick out`] : []),
          ...(await findOverlaps(opened.page)).map((words) => `these stand on each other: ${words}`),
        ]
      }
      await opened.context.close()
      expect(Object.fromEntries(Object.entries(found).filter(([, problems]) => problems.length > 0))).toEqual({})
      // A second or two for each of dozens of pages.
    },
    900_000,
  )
})
