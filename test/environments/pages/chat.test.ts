// Conversations in a real browser: streamed answers, tools, tasks, approvals, what stops them and what goes wrong.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath, closePages, type OpenedDashboard, openDashboard } from '../../fixtures/dashboard/browser.ts'
import {
  type ScriptedVendor,
  startVendor,
  type VendorAnswer,
  type VendorRequest,
} from '../../fixtures/llm/scripted-vendor.ts'
import { makeProvider } from '../../scenarios/chat-client.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

let service: Service
let opened: OpenedDashboard
let page: Page
const vendors: ScriptedVendor[] = []
let script: (request: VendorRequest) => VendorAnswer | Promise<VendorAnswer> = () => [{ text: 'nothing' }]

const hostile =
  '<img src="https://evil.example/x.png"> ![p](https://evil.example/p.png) [x](javascript:alert(1)) \u202eabc'

async function say(text: string): Promise<void> {
  await page.getByLabel('Message').fill(text)
  await page.keyboard.press('Enter')
}

const said = () => page.getByRole('log', { name: 'What was said' })
const answers = () => page.getByRole('article', { name: 'Answer' })

describe.skipIf(chromiumPath === undefined)('chat', () => {
  beforeAll(async () => {
    service = await startService()
    const vendor = await startVendor((request) => script(request))
    vendors.push(vendor)
    await makeProvider(service, 'default', vendor.url)
    opened = await openDashboard(service)
    page = opened.page
  })
  afterAll(async () => {
    await closePages()
    for (const vendor of vendors) await vendor.close()
    await service.stop()
    removeFolder(service.folder)
  })

  it('shows an answer as it comes, with Markdown as elements and the text of others as text', async () => {
    const more = Promise.withResolvers<void>()
    script = () => [{ text: '**First** part' }, { wait: more.promise }, { text: `, and the *rest*.\n\n${hostile}` }]
    await page.goto('/chat')
    await say('tell me something')
    await expect.poll(() => answers().last().locator('strong').textContent()).toBe('First')
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    more.resolve()
    await answers().last().locator('em', { hasText: 'rest' }).waitFor()
    await page.getByText(/tokens/).waitFor()
    expect(await answers().last().locator('img').count()).toBe(0)
    expect(await said().locator('a[href^="javascript"]').count()).toBe(0)
    expect(await answers().last().textContent()).toContain('⟨U+202E⟩')
    expect(page.url()).toContain('session=default')
    // What was stored is the same after a reload.
    await page.reload()
    await answers().last().locator('em', { hasText: 'rest' }).waitFor()
    expect(await answers().count()).toBe(1)
  })

  it('goes on with a conversation, begins another, and lists both', async () => {
    script = () => [{ text: 'go on' }]
    await say('and then?')
    await expect.poll(() => answers().count()).toBe(2)
    await page.getByRole('button', { name: 'New conversation' }).click()
    await page.getByText('What shall be done?').waitFor()
    await say('something else')
    await expect.poll(() => answers().count()).toBe(1)
    const list = page.getByRole('complementary', { name: 'Conversations' })
    await expect.poll(() => list.getByRole('listitem').count()).toBe(2)
    await list.getByRole('link').last().click()
    await expect.poll(() => answers().count()).toBe(2)
  })

  it('shows calls of tools folded, and the task that one made with its state as it is', async () => {
    let calls = 0
    script = () => {
      calls += 1
      const args = { name: 'wait-here', command: ['sh', '-c', 'until [ -e go ]; do sleep 0.2; done'] }
      return calls === 1 ? [{ call: { name: 'create_container_task', args } }] : [{ text: 'It is begun.' }]
    }
    await page.goto('/chat')
    await say('start a task')
    await answers().last().getByText('It is begun.').waitFor()
    const call = said().locator('details', { hasText: 'create_container_task' })
    expect(await call.getAttribute('open')).toBe(null)
    await call.locator('summary').press('Enter')
    await call.getByRole('region', { name: 'Arguments' }).getByText('until [ -e go ]').waitFor()
    await call.getByRole('region', { name: 'Result' }).getByText('"success": true').waitFor()
    const task = said().locator('.task-of-talk')
    await task.getByText('Running', { exact: true }).waitFor()
    const name = await task.getByRole('link').textContent()
    await service.call('POST', `/api/v1/tasks/${name}/cancel`)
    await task.getByText('Cancelled', { exact: true }).waitFor()
    await task.getByRole('link').click()
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/tasks/default/${name}`)
    await page.goBack()
    await answers().last().getByText('It is begun.').waitFor()
    await task.getByText('Cancelled', { exact: true }).waitFor()
  })

  it('stops an answer with Escape, and keeps what came', async () => {
    script = () => [{ text: 'half of it' }, { wait: new Promise(() => {}) }]
    await page.goto('/chat')
    await say('a long story')
    await answers().last().getByText('half of it').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('You stopped this answer').waitFor()
    await expect.poll(() => vendors[0]?.aborted).toBeGreaterThan(0)
  })

  it('begins a line with Shift and Enter, and sends nothing that is empty', async () => {
    const seen: unknown[] = []
    script = ({ messages }) => {
      seen.push(messages.at(-1)?.content)
      return [{ text: 'read' }]
    }
    await page.goto('/chat')
    await page.getByLabel('Message').fill('  ')
    await page.keyboard.press('Enter')
    await page.getByLabel('Message').fill('one')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('two')
    await page.keyboard.press('Enter')
    await answers().last().getByText('read').waitFor()
    expect(seen).toEqual(['one\ntwo'])
  })

  it('explains what the vendor refuses, and another provider can be chosen', async () => {
    const other = await startVendor(() => [{ text: 'from the other one' }])
    vendors.push(other)
    await makeProvider(service, 'other', other.url)
    script = () => ({ status: 401, message: 'this key is not known' })
    await page.goto('/chat')
    await say('hello')
    const failure = page.getByRole('alert')
    await failure.getByText(/key/).waitFor()
    await page.getByRole('link', { name: 'See the providers' }).waitFor()
    await page.getByRole('button', { name: /▾/ }).click()
    await page.getByLabel('Provider', { exact: true }).selectOption('other')
    await say('again')
    await answers().last().getByText('from the other one').waitFor()
    expect(await failure.count()).toBe(0)
  })

  it('calls a conversation as it begins, and renames it', async () => {
    const list = page.getByRole('complementary', { name: 'Conversations' })
    await list.getByRole('link', { name: /^hello/ }).waitFor()
    await list.getByRole('button', { name: 'Rename' }).click()
    await page.getByLabel('Title').fill(' ')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await expect.poll(() => page.getByLabel('Title').getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel('Title').fill('Keys of vendors')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await list.getByRole('link', { name: /^Keys of vendors/ }).waitFor()
  })

  it('asks before it deletes a conversation', async () => {
    const list = page.getByRole('complementary', { name: 'Conversations' })
    const before = await list.getByRole('listitem').count()
    await list.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the conversation' }).click()
    await expect.poll(() => list.getByRole('listitem').count()).toBe(before - 1)
    expect(page.url()).not.toContain('session=')
  })

  it('answers what a task of the conversation asks for', async () => {
    const asked = await startVendor(({ messages }) => {
      const answer = messages.findLast(({ role }) => role === 'tool')?.content
      if (answer !== undefined) return [{ text: `heard ${JSON.stringify(answer)}` }]
      return [{ call: { name: 'request_approval', args: { message: 'May I sweep?' } } }]
    })
    vendors.push(asked)
    await makeProvider(service, 'sweeper', asked.url)
    const coordination = { enabled: true, allowedAgents: [{ name: 'sweeper' }] }
    const spec = { providerRef: { name: 'sweeper' }, coordination }
    const made = await service.call('POST', '/api/v1/agents', { name: 'sweeper', spec })
    expect(made.status).toBe(201)
    let calls = 0
    script = () => {
      calls += 1
      const args = { name: 'sweep', agentRef: 'sweeper', prompt: 'sweep' }
      return calls === 1 ? [{ call: { name: 'create_ai_task', args } }] : [{ text: 'It asks.' }]
    }
    await page.goto('/chat')
    await say('sweep')
    const approval = page.getByRole('region', { name: / asks: / })
    await approval.getByText('May I sweep?').waitFor()
    await approval.getByLabel('Why, for the model to read').fill('gently')
    await approval.getByRole('button', { name: 'Allow' }).click()
    await said().locator('.task-of-talk').getByText('Succeeded', { exact: true }).waitFor()
    expect(await approval.count()).toBe(0)
  })

  it('says what to do where chat is turned off', async () => {
    const silent = await startService({ flags: ['--chat-enabled=false'] })
    const there = await openDashboard(silent)
    await there.page.goto('/chat')
    await there.page.getByText('Chat is turned off on this service').waitFor()
    await there.page.getByText('--chat-enabled=true').waitFor()
    await there.context.close()
    await silent.stop()
    removeFolder(silent.folder)
  })
})
