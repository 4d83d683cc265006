// The page of a task in a real browser: what it shows while the task goes on, what it leaves behind, and what can be done with it.
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  chromiumPath,
  closePages,
  type OpenedDashboard,
  openDashboard,
  settle,
} from '../../fixtures/dashboard/browser.ts'
import { addCommit, git } from '../../fixtures/git/repository.ts'
import { type GitServer, startGitServer } from '../../fixtures/git/server.ts'
import { readText, type ScriptedVendor, startVendor, type VendorRequest } from '../../fixtures/llm/scripted-vendor.ts'
import { createTask, getTask, removeFolder, type Service, startService, waitForPhase } from '../../scenarios/service.ts'

const shell = (script: string, more: object = {}) => ({ type: 'container', command: ['sh', '-c', script], ...more })
const esc = String.fromCharCode(27)
const rightToLeft = String.fromCodePoint(0x202e)

/** The lead gives work to two leaves and waits for them; a leaf's answer waits until the test lets it go. */
function createScript() {
  const go = Promise.withResolvers<void>()
  async function answer({ messages }: VendorRequest) {
    const prompt = readText(messages.findLast(({ role }) => role === 'user')?.content)
    if (prompt.includes('leaf')) return [{ wait: go.promise }, { text: 'the leaf is green' }]
    const results = messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => JSON.parse(readText(content)) as { taskName?: string })
    const call = (name: string, args: object) => [{ call: { name, args } }]
    if (results.length < 2) return call('delegate_task', { agent: 'leaf', prompt: `leaf ${results.length}` })
    if (results.length === 2) return call('wait_for_tasks', { tasks: results.map(({ taskName }) => taskName) })
    return [{ text: 'both are green' }]
  }
  return { answer, go: () => go.resolve() }
}

describe.skipIf(chromiumPath === undefined)('the page of a task', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-remotes-'))
  const script = createScript()
  let service: Service
  let server: GitServer
  let vendor: ScriptedVendor
  let opened: OpenedDashboard

  beforeAll(async () => {
    git(root, ['init', '-q', '--bare', '-b', 'main', 'tool.git'])
    addCommit(join(root, 'tool.git'), 'main', { 'README.md': 'a tool\n', 'src/main.txt': 'one\ntwo\n' })
    server = await startGitServer({ root })
    vendor = await startVendor(script.answer)
    service = await startService({ flags: ['--allow-network', '127.0.0.0/8'] })
    const provider = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' }
    await service.call('POST', '/api/v1/providers', { name: 'default', spec: provider })
    await service.call('POST', '/api/v1/agents', { name: 'leaf', spec: {} })
    const coordination = { enabled: true, allowedAgents: [{ name: 'leaf' }] }
    await service.call('POST', '/api/v1/agents', { name: 'lead', spec: { coordination } })
    opened = await openDashboard(service)
  })
  afterEach(() => expect(opened.complaints.splice(0)).toEqual([]))
  afterAll(async () => {
    await closePages()
    await service.stop()
    await vendor.close()
    await server.stop()
    removeFolder(service.folder)
    removeFolder(root)
  })

  const visit = (name: string, tab = '') => opened.page.goto(`/tasks/default/${name}${tab && `?tab=${tab}`}`)
  const button = (name: string) => opened.page.getByRole('button', { name, exact: true })

  it('shows a log as it grows, and cancels', async () => {
    const { page } = opened
    await createTask(service, 'talks', shell('echo begun; printf half; while :; do sleep 1; echo more; done'))
    await visit('talks', 'log')
    const log = page.getByRole('region', { name: 'Log' })
    await log.getByText('begun').waitFor()
    await log.getByText(/halfmore/).waitFor()
    await button('Cancel').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the task' }).click()
    await page.locator('.state-line').getByText('Cancelled').waitFor()
    expect((await getTask(service, 'talks')).status?.phase).toBe('Cancelled')
    await page.getByRole('link', { name: 'Steps' }).click()
    await page.getByRole('treegrid', { name: 'Steps' }).getByText('Cancelled').first().waitFor()
  })

  it('holds a log of more than ten mebibytes with few rows, finds in it, and cuts a line of megabytes', async () => {
    const { page } = opened
    const line = 'y'.repeat(990)
    await createTask(
      service,
      'long-log',
      shell(
        `seq 1 10000 | sed 's/$/ ${line}/'; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo the needle; seq 1 50`,
      ),
    )
    await visit('long-log', 'log')
    const log = page.getByRole('region', { name: 'Log' })
    await page.getByText(/^\d+ lines$/).waitFor({ timeout: 100_000 })
    // The end is kept in sight.
    await log.locator('bdi').getByText('50', { exact: true }).last().waitFor()
    expect(await log.locator('.log-line').count()).toBeLessThan(200)
    await page.getByRole('searchbox', { name: 'Find in the log' }).fill('NEEDLE')
    await page.keyboard.press('Enter')
    await log.locator('mark').getByText('needle').waitFor()
    await page.getByText('1 of 1 lines').waitFor()
    await log
      .getByRole('button', { name: /Show all/ })
      .first()
      .click()
    // The service keeps a line of megabytes in pieces of 64 KiB.
    const whole = page.getByRole('dialog').getByRole('region')
    await expect.poll(async () => (await whole.textContent())?.length).toBeGreaterThan(10_000)
    await page.keyboard.press('Escape')
    const [download] = await Promise.all([page.waitForEvent('download'), button('Download').click()])
    const text = readFileSync(await download.path(), 'utf8')
    expect(text.endsWith('49\n50\n')).toBe(true)
    expect(download.suggestedFilename()).toBe('long-log.log')
  })

  it('shows what is hostile as text', async () => {
    const { page } = opened
    const evil = `${esc}[31mred${esc}[0m <img src=x onerror=alert(1)> ${rightToLeft}gnp.exe`
    await createTask(service, 'evil', shell(`cat <<'END'\n${evil}\nEND`))
    await waitForPhase(service, 'evil', 'Succeeded')
    for (const [tab, region] of [
      ['log', 'Log'],
      ['result', 'Result'],
    ] as const) {
      await visit('evil', tab)
      await page
        .getByRole('region', { name: region })
        .getByText('red <img src=x onerror=alert(1)> ⟨U+202E⟩gnp.exe')
        .waitFor()
    }
    expect(await page.locator('img[src="x"]').count()).toBe(0)
  })

  it('shows files, and hands them over', async () => {
    const { page } = opened
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const write = `echo '# A report' > $SVC_ARTIFACTS_DIR/report.md; echo ${dot} | base64 -d > $SVC_ARTIFACTS_DIR/dot.png`
    await createTask(service, 'leaves-files', shell(write, { artifactsDir: '/workspace/out' }))
    await waitForPhase(service, 'leaves-files', 'Succeeded')
    await visit('leaves-files', 'files')
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    await row('report.md').getByRole('button', { name: 'Preview' }).click()
    await page.getByRole('dialog').getByText('# A report').waitFor()
    await page.keyboard.press('Escape')
    await row('dot.png').getByRole('button', { name: 'Preview' }).click()
    const picture = page.getByRole('img', { name: 'dot.png' })
    await picture.waitFor()
    await expect
      .poll(() => picture.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(1)
    await page.keyboard.press('Escape')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      row('report.md').getByRole('button', { name: 'Download' }).click(),
    ])
    expect(readFileSync(await download.path(), 'utf8')).toBe('# A report\n')
  })

  it('shows which files it was given', async () => {
    const { page } = opened
    await createTask(service, 'fed', { type: 'ai', ai: { prompt: 'p' }, suspend: true })
    const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/octet-stream' }
    const address = `${service.url}/api/v1/tasks/fed/inputs/${encodeURIComponent('src/main.py')}`
    expect((await fetch(address, { method: 'PUT', headers, body: 'print(1)' })).status).toBe(204)
    await page.goto('/tasks/default/fed')
    await page.getByRole('link', { name: /^Files\s*1$/ }).click()
    await page.getByRole('table', { name: 'Files given to the task' }).getByText('src/main.py').waitFor()
  })

  it('shows what a task changed in its repository', async () => {
    const { page } = opened
    const work =
      'sed -i s/two/three/ src/main.txt; seq 1 600 > long.txt; git rm -q README.md 2>/dev/null || rm README.md'
    await createTask(service, 'changes', shell(work, { workspace: { gitRepo: `${server.origin}/tool.git` } }))
    await waitForPhase(service, 'changes', 'Succeeded')
    await visit('changes', 'diff')
    const files = page.getByRole('navigation', { name: 'Changed files' })
    const inFolder = files.getByRole('listitem').filter({ hasText: 'src/' })
    await inFolder.getByRole('listitem').filter({ hasText: 'main.txt' }).getByText('+1').waitFor()
    const lines = page.getByRole('region', { name: 'Lines of src/main.txt' })
    await lines.getByText('three').waitFor()
    expect(await lines.locator('[data-change="removed"]').textContent()).toContain('−')
    // Side by side is as it is chosen, also the next time; what was viewed is folded, and stays so.
    await page.getByRole('button', { name: 'Side by side' }).click()
    const pair = lines.locator('.diff-pair').filter({ hasText: 'three' })
    expect(await pair.locator('[data-change]').allTextContents()).toEqual([
      expect.stringContaining('two'),
      expect.stringContaining('three'),
    ])
    await page.getByRole('checkbox', { name: 'Viewed src/main.txt' }).check()
    await lines.waitFor({ state: 'detached' })
    await page.getByText('1 of 3 files viewed').waitFor()
    await page.reload()
    await page.getByText('1 of 3 files viewed').waitFor()
    expect(await lines.count()).toBe(0)
    await page.getByRole('checkbox', { name: 'Viewed src/main.txt' }).uncheck()
    await lines.locator('.diff-pair').first().waitFor()
    await page.getByRole('button', { name: 'Unified' }).click()
    await lines.locator('.diff-pair').first().waitFor({ state: 'detached' })
    // A long one is closed at first.
    const long = page.locator('details').filter({ hasText: 'long.txt' })
    expect(await long.getAttribute('open')).toBeNull()
    await long.locator('summary').click()
    await page.getByRole('region', { name: 'Lines of long.txt' }).getByText('600', { exact: true }).first().waitFor()
  })

  it('draws the family of a task while it works, and is walked by keys', async () => {
    const { page } = opened
    await createTask(service, 'team', { type: 'ai', agentRef: { name: 'lead' }, ai: { prompt: 'lead' } })
    await visit('team', 'family')
    const tree = page.getByRole('tree', { name: 'Family of the task' })
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(3)
    const items = tree.getByRole('treeitem')
    await items.first().focus()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => items.nth(1).getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => items.first().getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(1)
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => tree.getByRole('treeitem').count()).toBe(3)
    script.go()
    await waitForPhase(service, 'team', 'Succeeded')
    await page.getByText(/^3 tasks: 3 succeeded/).waitFor()
    await items.nth(2).focus()
    const child = (await items.nth(2).locator('.family-name bdi').first().textContent()) ?? ''
    await items.nth(2).click()
    await expect.poll(() => items.nth(2).getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1 }).getByText(child).waitFor()
  })

  it('does the same again, and deletes after a question', async () => {
    const { page } = opened
    await createTask(service, 'fails', shell('exit 3', { retryPolicy: { maxRetries: 0 } }))
    await waitForPhase(service, 'fails', 'Failed')
    await visit('fails')
    await button('Retry').click()
    await expect.poll(() => page.url()).toContain('/fails-')
    await visit('fails')
    await button('Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click()
    expect((await service.call('GET', '/api/v1/tasks/fails')).status).toBe(200)
    await button('Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the task' }).click()
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor()
    await expect.poll(async () => (await service.call('GET', '/api/v1/tasks/fails')).status).toBe(404)
  })

  it('says so when somebody else deletes it, and asks for nothing that is gone', async () => {
    await createTask(service, 'gone', shell('exit 0'))
    await waitForPhase(service, 'gone', 'Succeeded')
    await visit('gone')
    await opened.page.getByText('Live', { exact: true }).waitFor()
    await opened.page.getByText('Succeeded').first().waitFor()
    await settle(opened.page)
    await service.call('DELETE', '/api/v1/tasks/gone')
    await opened.page.getByText('Task "gone" was deleted').waitFor()
  })
})
