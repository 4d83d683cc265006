// Security scans in a real browser: made by a form, findings that come as they are found, and what is decided about them.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, closePages, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { git } from '../../fixtures/git/repository.ts'
import { openScanStand, report, type ScanStand, say, shop, weak } from '../../scenarios/scan-stand.ts'

const patched = weak('auth').replace(/db\.Query.*/, 'db.Query("select * from users where name = ?", user)')

/** Writes the file, then says that it has. */
const author = (id: string, turn: number) =>
  turn === 0
    ? [{ call: { name: 'file_write', args: { path: '/workspace/auth/login.go', content: patched } } }]
    : say({
        schemaVersion: 1,
        findingId: id,
        summary: 'uses a parameter',
        changedFiles: ['auth/login.go'],
        testsRun: [],
        risk: 'low',
      })

describe.skipIf(chromiumPath === undefined)('security scans', () => {
  let stand: ScanStand
  let page: Page
  beforeAll(async () => {
    stand = await openScanStand()
    stand.makeRemote('shop', shop)
    for (const path of ['auth/login.go', 'pay/pay.go']) stand.script.reviews.set(path, (id) => say(report(id, [path])))
    stand.script.works.Repair = [author]
    page = (await openDashboard(stand.service())).page
    page.setDefaultTimeout(60_000)
  })
  afterAll(async () => {
    await closePages()
    await stand.close()
  })

  const queue = () => page.getByRole('navigation', { name: 'Findings' })
  const finding = (path: string) => page.getByRole('article', { name: `SQL injection in ${path}` })
  const stateOf = async (path: string) =>
    (await stand.findingsOf('shop')).find(({ filePath }) => filePath === path)?.state

  it('are made by a form and show what is found without being loaded again', async () => {
    const { repoURL } = stand.specOf('shop')
    await page.goto('/scans')
    await page.getByRole('link', { name: 'Create scan' }).first().click()
    await page.getByLabel('name (required)', { exact: true }).first().fill('shop')
    await page.getByLabel('repoURL (required)').fill(repoURL)
    const agent = page.getByRole('group', { name: 'analysisAgentRef' }).last()
    await agent.getByLabel('name (required)').fill('auditor')
    await page.getByRole('button', { name: 'gitSecretRef', exact: true }).click()
    await page.getByRole('group', { name: 'gitSecretRef' }).last().getByLabel('name (required)').fill('forge')
    await page.getByRole('button', { name: 'validationMode', exact: true }).click()
    await page.getByLabel('validationMode', { exact: true }).selectOption('off')
    await page.getByRole('button', { name: 'Create the scan' }).click()
    await queue().getByText('SQL injection in auth/login.go').waitFor()
    await queue().getByText('SQL injection in pay/pay.go').waitFor()
    await stand.waitForRun('shop')
  })

  it('show the code around the place, and go through the queue by keys', async () => {
    await page.goto('/scans/default/shop')
    await page.getByRole('article').waitFor()
    const first = await page.getByRole('article').getAttribute('aria-label')
    await page.keyboard.press('j')
    await expect.poll(() => page.getByRole('article').getAttribute('aria-label')).not.toBe(first)
    expect(new URL(page.url()).searchParams.get('finding')).toMatch(/^fnd_/)
    await page.keyboard.press('k')
    await expect.poll(() => page.getByRole('article').getAttribute('aria-label')).toBe(first)
    const code = page.getByLabel(/^Code of /)
    expect(await code.textContent()).toMatch(/^4\s*db\.Query\("select \* from users where name = '"/)
  })

  it('show the parts that the repository is reviewed in, with their files', async () => {
    await page.goto('/scans/default/shop?tab=parts')
    const part = page.getByRole('listitem').filter({ hasText: 'auth/login.go' }).first()
    await part.getByText('reviewed', { exact: true }).waitFor()
    await part.getByText(/^\d files?$/).click()
    await part.getByText('auth/login.go', { exact: true }).waitFor()
    await part.getByRole('link', { name: 'Review task' }).waitFor()
    await page.getByLabel('State', { exact: true }).selectOption('failed')
    await page.getByText('No part matches').waitFor()
  })

  it('dismiss a finding with a reason, and take that back', async () => {
    await page.goto('/scans/default/shop?file=pay')
    await finding('pay/pay.go').waitFor()
    await page.keyboard.press('d')
    const dialog = page.getByRole('dialog', { name: 'Dismiss “SQL injection in pay/pay.go”' })
    await dialog.getByRole('button', { name: 'Dismiss' }).click()
    await dialog.getByText('is required: say why the finding is of no concern').waitFor()
    await dialog.getByLabel('Reason (required)').fill('the input is a constant')
    await dialog.getByRole('button', { name: 'Dismiss' }).click()
    await finding('pay/pay.go').getByText('the input is a constant').waitFor()
    expect(await stateOf('pay/pay.go')).toBe('dismissed')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => stateOf('pay/pay.go')).toBe('open')
  })

  it('dismiss several at once for one reason, after one question', async () => {
    await page.goto('/scans/default/shop?severity=high')
    const chips = page.getByRole('list', { name: 'Filters that are set' })
    await chips.getByRole('button', { name: 'Severity: high' }).click()
    expect(page.url()).not.toContain('severity')
    const boxes = queue().getByRole('checkbox')
    await expect.poll(() => boxes.count()).toBe(2)
    await boxes.first().check()
    await page.getByRole('button', { name: 'Choose all shown' }).click()
    await page.getByRole('button', { name: 'Dismiss 2…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Dismiss 2 findings?' })
    const confirm = dialog.getByRole('button', { name: 'Dismiss 2 findings' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByLabel('Reason (required)').fill('a sample')
    await confirm.click()
    await page.getByText('2 findings are dismissed').waitFor()
    for (const path of ['auth/login.go', 'pay/pay.go']) {
      expect(await stateOf(path)).toBe('dismissed')
      await finding(path).or(queue().getByText(path)).first().click()
      await finding(path).waitFor()
      await page.keyboard.press('r')
      await expect.poll(() => stateOf(path)).toBe('open')
    }
  })

  it('stand by file, where keys pass over what is folded and a file is marked as a whole', async () => {
    await page.goto('/scans/default/shop?group=file')
    const head = (name: string) =>
      queue()
        .getByRole('button', { name: new RegExp(name) })
        .first()
    await head('pay/pay.go').waitFor()
    expect(await head('auth/login.go').getAttribute('aria-expanded')).toBe('true')
    expect(await queue().getByRole('region').count()).toBe(2)
    const first = (await page.getByRole('article').getAttribute('aria-label')) ?? ''
    const [own, other] = first.includes('pay') ? ['pay/pay.go', 'auth/login.go'] : ['auth/login.go', 'pay/pay.go']
    // The group of what is shown is folded; it is shown on, until somebody goes on.
    await page.keyboard.press('o')
    await expect.poll(() => head(own).getAttribute('aria-expanded')).toBe('false')
    await finding(own).waitFor()
    await page.keyboard.press('j')
    await finding(other).waitFor()
    await page.keyboard.press('k')
    await page.keyboard.press('k')
    await finding(other).waitFor()
    await queue()
      .getByRole('checkbox', { name: `Choose all of ${own}` })
      .check()
    await page.getByText('1 finding chosen').waitFor()
    await queue().getByRole('button', { name: 'Fold all', exact: true }).click()
    await expect.poll(() => queue().getByRole('listitem').count()).toBe(0)
    await page.getByLabel('Group', { exact: true }).selectOption('rule')
    await head('sql-injection').waitFor()
    expect(await queue().getByRole('listitem').count()).toBe(2)
  })

  it('filter by what stands in the address', async () => {
    await page.goto('/scans/default/shop?state=dismissed')
    await page.getByText('No finding matches').waitFor()
    await page.getByLabel('State', { exact: true }).selectOption('open')
    await queue().getByText('SQL injection in pay/pay.go').waitFor()
    await page.getByLabel('File', { exact: true }).fill('auth')
    await expect.poll(() => queue().getByRole('button').count()).toBe(1)
    expect(page.url()).toContain('file=auth')
  })

  it('have a finding fixed, and show what the fix changes', async () => {
    await page.goto('/scans/default/shop?file=auth')
    await finding('auth/login.go').waitFor()
    await page.keyboard.press('f')
    const [found] = (await stand.findingsOf('shop')).filter(({ filePath }) => filePath === 'auth/login.go')
    expect(await stand.waitForPatch(found?.id ?? '')).toMatchObject({ status: 'succeeded' })
    await finding('auth/login.go').getByText('uses a parameter').waitFor()
    const lines = finding('auth/login.go').locator('.diff-line[data-change="added"]')
    await lines.getByText('select * from users where name = ?').waitFor()
    expect(git(`${stand.root}/shop.git`, ['branch', '--list', 'svc/*'])).not.toBe('')
  })

  it('give everything that was found as SARIF, and take in what others found', async () => {
    await page.goto('/scans/default/shop?tab=imports')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export SARIF' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('shop.sarif')
    const log = {
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'Another scanner' } },
          results: [
            {
              ruleId: 'joined-sql',
              level: 'error',
              message: { text: 'SQL is joined from parts.' },
              locations: [{ physicalLocation: { artifactLocation: { uri: 'pay/pay.go' }, region: { startLine: 4 } } }],
            },
          ],
        },
      ],
    }
    const file = { name: 'given.sarif', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(log)) }
    await page.getByLabel(/^Take in what another scanner found/).setInputFiles(file)
    await page.getByText('Another scanner').waitFor()
  })

  it('say how far each run came', async () => {
    await page.goto('/scans/default/shop?tab=runs')
    await page
      .getByText(/\d of \d, \d unchanged/)
      .first()
      .waitFor()
    await page.getByText('2 kept, 0 dropped').waitFor()
  })
})
