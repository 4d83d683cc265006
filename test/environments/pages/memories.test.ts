// Memories and what agents propose to remember, in a real browser.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Memory } from '../../../src/contract/api/memory/memories.ts'
import type { MemoryProposal } from '../../../src/contract/api/memory/memory-proposals.ts'
import { chromiumPath, closePages, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { make } from '../../fixtures/dashboard/samples/make.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

let service: Service
let page: Page

const propose = (title: string) =>
  make<MemoryProposal>(service, '/api/v1/memory-proposals', { type: 'memory', title, content: `${title}: the words` })
const statusOf = async ({ id }: MemoryProposal) =>
  (await service.call<MemoryProposal>('GET', `/api/v1/memory-proposals/${id}`)).body.status
const remembered = async () => (await service.call<{ items: Memory[] }>('GET', '/api/v1/memories')).body.items

describe.skipIf(chromiumPath === undefined)('what is remembered', () => {
  beforeAll(async () => {
    service = await startService()
    page = (await openDashboard(service)).page
  })
  afterAll(async () => {
    await closePages()
    await service.stop()
    removeFolder(service.folder)
  })

  it('writes a memory, and shows what the service finds wrong where it is wrong', async () => {
    await page.goto('/memories')
    await page.getByText('Nothing is remembered yet').waitFor()
    await page.getByRole('button', { name: 'New memory' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    const words = page.getByLabel(/What is to be remembered/)
    await expect.poll(() => words.getAttribute('aria-invalid')).toBe('true')
    await words.fill('The cellar is damp.')
    await page.getByLabel('Tags', { exact: true }).fill('House, House, cellar')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('article').getByText('The cellar is damp.').waitFor()
    expect((await remembered())[0]?.tags).toEqual(['house', 'cellar'])
  })

  it('finds memories by words and by tags, which stand in the address', async () => {
    await make(service, '/api/v1/memories', {
      content: 'The roof leaks.',
      tags: ['house'],
      taskName: 'inspect',
      agentName: 'mason',
    })
    await page.goto('/memories')
    await expect.poll(() => page.getByRole('article').count()).toBe(2)
    await page.getByLabel('Search in memories').fill('roof')
    await expect.poll(() => page.getByRole('article').count()).toBe(1)
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('roof')
    await page.reload()
    await page.getByRole('article').getByText('The roof leaks.').waitFor()
    await page.getByText('Where it comes from').click()
    expect(await page.getByRole('link', { name: 'inspect' }).getAttribute('href')).toBe('/tasks/default/inspect')
    await page.getByLabel('Search in memories').fill('submarine')
    await page.getByText('No memory matches').waitFor()
    await page.goto('/memories?tags=attic')
    await page.getByText('No memory matches').waitFor()
    // What somebody else writes comes by itself.
    await make(service, '/api/v1/memories', { id: 'mem-attic', content: 'The attic is full.', tags: ['attic'] })
    await page.getByRole('article').getByText('The attic is full.').waitFor()
    await service.call('DELETE', '/api/v1/memories/mem-attic')
    await page.getByText('No memory matches').waitFor()
    await page.goto('/memories?tags=cellar')
    await expect.poll(() => page.getByRole('article').count()).toBe(1)
  })

  it('changes a memory, disables it and takes that back, and asks before it deletes it', async () => {
    await page.goto('/memories?q=cellar')
    const card = page.getByRole('article')
    await card.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel(/What is to be remembered/).fill('The cellar is dry.')
    await page.getByRole('button', { name: 'Save' }).click()
    await card.getByText('The cellar is dry.').waitFor()
    await card.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('No memory matches').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await card.getByText('The cellar is dry.').waitFor()
    await card.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the memory' }).click()
    await page.getByText('No memory matches').waitFor()
    expect((await remembered()).map(({ content }) => content)).toEqual(['The roof leaks.'])
  })

  it('reviews proposals by keyboard: accept, reject, edit and accept', async () => {
    const [third, second, first] = [await propose('Third'), await propose('Second'), await propose('First')]
    await page.goto('/proposals')
    const shown = (title: string) => page.getByRole('article', { name: title })
    // What has just come in sight by itself is not decided by the next key.
    const decidable = () => page.locator('button:enabled', { hasText: /^Reject/ }).waitFor()
    await shown('First').waitFor()
    await page.keyboard.press('j')
    await shown('Second').waitFor()
    await page.keyboard.press('k')
    await shown('First').waitFor()
    await page.keyboard.press('a')
    await shown('Second').waitFor()
    await expect.poll(() => statusOf(first)).toBe('applied')
    await decidable()
    await page.keyboard.press('r')
    await shown('Third').waitFor()
    await expect.poll(() => statusOf(second)).toBe('rejected')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => statusOf(second)).toBe('pending')
    await page.getByRole('button', { name: /^Second/ }).click()
    await shown('Second').waitFor()
    await decidable()
    await page.keyboard.press('r')
    await expect.poll(() => statusOf(second)).toBe('rejected')
    await shown('Third').waitFor()
    await decidable()
    await page.keyboard.press('e')
    await page.getByRole('textbox', { name: 'What is to be remembered' }).fill('In other words')
    await page.getByRole('button', { name: 'Accept so' }).click()
    await page.getByText('Nothing waits for review').waitFor()
    await expect.poll(() => statusOf(third)).toBe('applied')
    const contents = (await remembered()).map(({ content }) => content)
    expect(contents).toEqual(expect.arrayContaining(['First: the words', 'In other words']))
    expect(contents).not.toContain('Second: the words')
    await page.getByLabel('State').selectOption('rejected')
    await shown('Second')
      .getByText(/Decided by/)
      .waitFor()
  })

  it('is proposed by a person as well, and archived once it is rejected', async () => {
    await page.goto('/proposals')
    await page.getByRole('button', { name: 'New proposal' }).click()
    const dialog = page.getByRole('dialog', { name: 'New proposal' })
    await dialog.getByLabel('Title (required)').fill('Of a person')
    await dialog.getByLabel('What is to be remembered (required)').fill('The **roof** leaks.')
    await dialog.getByRole('button', { name: 'Propose' }).click()
    const shown = page.getByRole('article', { name: 'Of a person' })
    await shown.getByText('roof', { exact: true }).waitFor()
    await page.locator('button:enabled', { hasText: /^Reject/ }).click()
    await page.getByText('Nothing waits for review').waitFor()
    await page.goto('/proposals?status=rejected')
    await page.getByRole('button', { name: /^Of a person/ }).click()
    await shown.getByRole('button', { name: 'Archive' }).click()
    await shown.waitFor({ state: 'detached' })
    await page.getByLabel('State').selectOption('archived')
    await shown.waitFor()
  })

  it('is shown to a caller who may only read, without what decides', async () => {
    await propose('Fourth')
    const { token } = await make<{ token: string }>(service, '/api/v1/tokens', { name: 'reader', role: 'viewer' })
    const reader = await openDashboard({ url: service.url, token })
    await reader.page.goto('/proposals')
    await reader.page.getByRole('article', { name: 'Fourth' }).waitFor()
    for (const key of ['a', 'r']) await reader.page.keyboard.press(key)
    expect(await reader.page.getByRole('button', { name: /^(Accept|Reject)/ }).count()).toBe(0)
    const { body } = await service.call<{ items: { title: string; status: string }[] }>(
      'GET',
      '/api/v1/memory-proposals',
    )
    expect(body.items.find(({ title }) => title === 'Fourth')).toMatchObject({ status: 'pending' })
    await reader.context.close()
  })
})
