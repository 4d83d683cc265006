// Every page of the dashboard, in a real browser: what axe finds, what the page complains of, and what does not fit.
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  type ChosenLook,
  chromiumPath,
  lookAs,
  looks,
  type OpenedDashboard,
  openDashboard,
  settle,
} from '../../fixtures/dashboard/browser.ts'
import { useFilledService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { findOverlaps } from '../../fixtures/dashboard/overlaps.ts'

/** Only addresses that this matches, while one view is worked on: `SVC_TEST_PAGES=agents`. */
const wanted = new RegExp(process.env.SVC_TEST_PAGES ?? '')

/** What axe finds against WCAG 2.2 AA, each with the element it found it at. In the dark only colours are others, and from the other side places. */
async function findBarriers(page: Page, { theme, direction }: ChosenLook): Promise<string[]> {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  // The page has no frames, of which each would be looked at in a page of its own.
  const builder = new AxeBuilder({ page }).setLegacyMode()
  const asked =
    direction === 'rtl'
      ? builder.withRules('target-size')
      : theme === 'dark'
        ? builder.withRules('color-contrast')
        : builder.withTags(tags)
  const { violations } = await asked.analyze()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

/** What sticks out, and what stands on something else. */
async function findMisplaced(page: Page): Promise<string[]> {
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'))
  const overlaps = await findOverlaps(page)
  return [
    ...(overflow > 0 ? [`${overflow} px stick out`] : []),
    ...overlaps.map((words) => `these stand on each other: ${words}`),
  ]
}

async function findProblems({ page, complaints }: OpenedDashboard, look: ChosenLook): Promise<string[]> {
  const barriers = await findBarriers(page, look)
  return [...barriers, ...complaints.splice(0), ...(look.theme === 'dark' ? [] : await findMisplaced(page))]
}

/** Tabs at a time: while one waits for the service the others are looked at. */
const tabs = 3

describe.skipIf(chromiumPath === undefined)('every page', () => {
  const filled = useFilledService()

  it('has no barriers, no errors and nothing that sticks out, however it is looked at', async () => {
    const found: Record<string, string[]> = {}
    const left = filled.addresses.filter((one) => wanted.test(one))
    const visit = async (opened: OpenedDashboard, address: string) => {
      await opened.page.goto(address)
      await settle(opened.page)
      for (const look of looks) {
        await lookAs(opened.page, look)
        found[`${address} ${Object.values(look).join(' ')}`] = await findProblems(opened, look)
      }
    }
    const walk = async () => {
      const opened = await openDashboard(filled.service)
      for (let address = left.shift(); address !== undefined; address = left.shift()) await visit(opened, address)
      await opened.context.close()
    }
    await Promise.all(Array.from({ length: tabs }, walk))
    expect(Object.fromEntries(Object.entries(found).filter(([, problems]) => problems.length > 0))).toEqual({})
    // A second or two for each of dozens of pages.
  }, 900_000)
})
