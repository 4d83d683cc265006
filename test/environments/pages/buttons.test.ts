// What buttons look like at rest, under the pointer, pressed and disabled.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromiumPath, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'

type Variant = { tag: 'a' | 'button'; attributes: Record<string, string> }

const looks: Record<string, string>[] = [
  {},
  { 'data-look': 'main' },
  { 'data-look': 'danger' },
  { 'data-look': 'plain' },
]
const states: Record<string, string>[] = [{}, { 'aria-pressed': 'true' }, { 'aria-disabled': 'true' }, { disabled: '' }]
const variants = looks.flatMap((look): Variant[] => [
  ...states.map((state): Variant => ({ tag: 'button', attributes: { class: 'button', ...look, ...state } })),
  { tag: 'a', attributes: { class: 'button text-link plain-link', href: '#main', ...look } },
  { tag: 'a', attributes: { class: 'button', href: '#main', ...look } },
])

/** In the page: the colours that one button shows, and the contrast of its words on the first ground below that is not transparent. */
const readColours = `(element) => {
  const context = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true })
  const bytes = (colour) => {
    context.clearRect(0, 0, 1, 1)
    context.fillStyle = colour
    context.fillRect(0, 0, 1, 1)
    return [...context.getImageData(0, 0, 1, 1).data]
  }
  const luminance = (colour) => {
    const [red, green, blue] = bytes(colour).map((byte) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  let below = element
  while (bytes(getComputedStyle(below).backgroundColor)[3] === 0) below = below.parentElement
  const words = getComputedStyle(element).color
  const ground = getComputedStyle(below).backgroundColor
  const [dark, light] = [luminance(words), luminance(ground)].sort((a, b) => a - b)
  return { words, ground, contrast: (light + 0.05) / (dark + 0.05), filter: getComputedStyle(element).filter }
}`

type Colours = { words: string; ground: string; contrast: number; filter: string }

/** In the page: one button alone, above everything else. */
const draw = `({ tag, attributes }) => {
  const [shown] = document.querySelectorAll('#shown')
  const frame = shown ?? document.body.appendChild(Object.assign(document.createElement('div'), { id: 'shown' }))
  Object.assign(frame.style, { position: 'fixed', inset: '40% 40%', zIndex: 9 })
  const button = Object.assign(document.createElement(tag), { textContent: 'Words' })
  for (const [name, value] of Object.entries(attributes)) button.setAttribute(name, value)
  frame.replaceChildren(button)
}`

/** At rest and under the pointer. */
async function coloursOf(page: Page, variant: Variant): Promise<{ rest: Colours; pointed: Colours }> {
  await page.mouse.move(0, 0)
  await page.evaluate(`(${draw})(${JSON.stringify(variant)})`)
  const read = () => page.evaluate<Colours>(`(${readColours})(document.querySelector('#shown > *'))`)
  const rest = await read()
  // A disabled one takes no pointer; it is pointed at all the same.
  await page.locator('#shown > *').hover({ force: true })
  return { rest, pointed: await read() }
}

function faultsOf({ attributes }: Variant, { rest, pointed }: { rest: Colours; pointed: Colours }): string[] {
  const isOff = 'disabled' in attributes || 'aria-disabled' in attributes
  const answers = pointed.ground !== rest.ground
  const unreadable = [rest, pointed].filter(({ contrast, filter }) => contrast < 4.5 || filter !== 'none')
  return [
    ...(answers === isOff ? [`it ${isOff ? 'answers' : 'does not answer'} the pointer`] : []),
    ...unreadable.map((colours) => JSON.stringify(colours)),
  ].map((fault) => `${JSON.stringify(attributes)}: ${fault}`)
}

describe.skipIf(chromiumPath === undefined)('buttons', () => {
  const started = useService()

  it.each(['light', 'dark'] as const)(
    'can be read under the pointer, whatever their look and state: %s',
    async (theme) => {
      const { page, context } = await openDashboard(started.service, { theme })
      await settle(page)
      const faults: string[] = []
      for (const variant of variants) faults.push(...faultsOf(variant, await coloursOf(page, variant)))
      expect(faults).toEqual([])
      await context.close()
    },
  )

  it('of the main action stay in the accent under the pointer', async () => {
    const { page, context } = await openDashboard(started.service)
    await page.goto('/tasks')
    await page.getByRole('link', { name: 'New task' }).first().hover()
    const read = `(${readColours})(document.querySelector('main a:hover'))`
    const { words, ground, contrast } = await page.evaluate<Colours>(read)
    expect(words).toBe('rgb(255, 255, 255)')
    expect(contrast).toBeGreaterThan(4.5)
    const accent = await page.evaluate(`(() => {
      const probe = document.body.appendChild(document.createElement('i'))
      probe.style.color = 'var(--accent-pointed)'
      return getComputedStyle(probe).color
    })()`)
    expect(ground).toBe(accent)
    await context.close()
  })
})
