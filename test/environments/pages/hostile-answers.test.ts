// Every text that the service answers with ends in what others might write: nowhere is it more than text, nor does it hide or turn anything.
import type { Page, Route } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromiumPath, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { useFilledService } from '../../fixtures/dashboard/dashboard-tests.ts'

const hostile = '\u202e\u200b\u001b[31m<img src=x onerror=window.stolen=1><b class=stolen>b</b>'

/** Words that the service chooses itself, of which the page knows each one. */
const words = new Set([
  ...[
    'apiVersion',
    'kind',
    'uid',
    'resourceVersion',
    'id',
    'phase',
    'state',
    'status',
    'type',
    'role',
    'continue',
    'method',
    'code',
  ],
  ...[
    'severity',
    'validationStatus',
    'outcome',
    'sort',
    'namespace',
    'boundNamespace',
    'cron',
    'scheduleTimeZone',
    'sessionType',
  ],
  ...[
    'source',
    'via',
    'confidence',
    'executionStatus',
    'mode',
    'reusePolicy',
    'cleanupPolicy',
    'verb',
    'stage',
    'day',
    'taskUid',
    'trigger',
    'schedule',
    'timeZone',
  ],
])
const isMoment = (text: string) => /^\d{4}-\d\d-\d\dT/.test(text)

/** The same, with every text that others might have written made hostile. Names that are part of an address stay. */
function makeHostile(value: unknown, key = '', parent = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => makeHostile(one, key, parent))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, makeHostile(one, name, key)]))
  }
  const isOwn = words.has(key) || (key === 'name' && parent === 'metadata')
  return typeof value !== 'string' || isOwn || isMoment(value) ? value : value + hostile
}

/** The service describes its settings itself; their values come from a file. */
function makeSettingsHostile(body: { items: { value: string }[] }): unknown {
  return { ...body, items: body.items.map((item) => ({ ...item, value: item.value + hostile })) }
}

async function answer(route: Route): Promise<void> {
  // Streams end with the page only.
  if (/\/watch\b|[?&]follow=true\b/.test(route.request().url())) return route.continue()
  const response = await route.fetch()
  const isJson = response.headers()['content-type']?.startsWith('application/json') === true
  if (!isJson) return route.fulfill({ response })
  const body = await response.json()
  const isSettings = new URL(route.request().url()).pathname.endsWith('/settings')
  return route.fulfill({ response, json: isSettings ? makeSettingsHostile(body) : makeHostile(body) })
}

/** Markup that became elements, addresses that lead astray, and texts in which something is hidden. */
const findFaults = `(() => {
  const faults = []
  if (window.stolen !== undefined) faults.push('a script has run')
  for (const element of document.querySelectorAll('.stolen, main img[src="x"]')) faults.push('markup: ' + element.outerHTML.slice(0, 80))
  for (const { href } of document.querySelectorAll('a[href]'))
    if (!/^https?:|^blob:/.test(href)) faults.push('address: ' + href)
  const hidden = /[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\u001b]/
  const note = (what, text) => hidden.test(text ?? '') && faults.push(what + ': ' + JSON.stringify(text).slice(0, 120))
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const { textContent, parentElement } = texts.currentNode
    // What is typed stays as it is; values that a schema does not know are none of the service's.
    if (parentElement.closest('textarea, option[value="-1"]') === null) note('text of ' + parentElement.outerHTML.slice(0, 60), textContent)
  }
  for (const element of document.querySelectorAll('[title], [placeholder], [alt]'))
    for (const name of ['title', 'placeholder', 'alt']) note(name, element.getAttribute(name))
  note('title of the tab', document.title)
  return [...new Set(faults)]
})()`

/** One of each view: what an address is asked for does not depend on the object. */
function pathsOf(addresses: readonly string[]): string[] {
  const paths = addresses.map((address) => address.split('?')[0] ?? '')
  const viewOf = (path: string) =>
    path
      .split('/')
      .map((part, at) => (at === 1 ? part : '*'))
      .join('/')
  return [...new Map(paths.map((path) => [viewOf(path), path])).values()]
}

describe.skipIf(chromiumPath === undefined)('hostile text in every answer', () => {
  const filled = useFilledService()

  async function faultsAt(page: Page, address: string): Promise<string[]> {
    await page.goto(address)
    await settle(page)
    // From the last one on: one that is open no longer counts among the others.
    const folded = await page.locator('main details:not([open]) > summary').all()
    for (const summary of folded.reverse()) await summary.click()
    return (await page.evaluate(findFaults)) as string[]
  }

  it('is text on every page', async () => {
    const { page, context, complaints } = await openDashboard(filled.service)
    await page.route('**/api/v1/**', answer)
    const found: Record<string, string[]> = {}
    for (const address of filled.addresses) {
      const faults = await faultsAt(page, address)
      // A refused request is told on the console by the browser itself.
      const told = complaints.splice(0).filter((text) => !text.startsWith('Failed to load resource'))
      if (faults.length + told.length > 0) found[address] = [...faults, ...told]
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    expect(found).toEqual({})
    await context.close()
  }, 600_000)

  const names = [
    ...[
      'ns',
      'tab',
      'phase',
      'type',
      'agent',
      'text',
      'label',
      'q',
      'state',
      'as',
      'outcome',
      'verb',
      'validation',
      'until',
    ],
    ...[
      'task',
      'tags',
      'source',
      'since',
      'severity',
      'kind',
      'file',
      'disabled',
      'caller',
      'status',
      'verdict',
      'session',
    ],
    ...['schedule', 'period', 'node', 'from', 'by', 'at', 'finding', 'proposal', 'sort'],
  ]
  const values = ['__proto__', '%00\u202e(((<b class=stolen>', '-1e999']

  it.each(values)(
    'in the address breaks no page: %s',
    async (value) => {
      const { page, context, complaints } = await openDashboard(filled.service)
      const query = String(new URLSearchParams(Object.fromEntries(names.map((name) => [name, value]))))
      const found: Record<string, string[]> = {}
      for (const path of pathsOf(filled.addresses)) {
        const faults = await faultsAt(page, `${path}?${query}`)
        const broken = await page
          .getByText(/is not a function|undefined|Cannot read|Unexpected token|Invalid time value/)
          .allTextContents()
        const told = complaints.splice(0).filter((text) => !text.startsWith('Failed to load resource'))
        if (faults.length + told.length + broken.length > 0) found[path] = [...faults, ...told, ...broken]
      }
      expect(found).toEqual({})
      await context.close()
    },
    600_000,
  )
})
