// Agents, tools, skills and providers in a real browser: made, changed and deleted by forms and by YAML.
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chromiumPath, closePages, type OpenedDashboard, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { make } from '../../fixtures/dashboard/samples/make.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

type Stored = { metadata: { labels?: object }; spec: Record<string, unknown> }

describe.skipIf(chromiumPath === undefined)('the catalogue', () => {
  let service: Service
  let opened: OpenedDashboard
  let page: Page
  beforeAll(async () => {
    service = await startService()
    opened = await openDashboard(service)
    page = opened.page
    page.setDefaultTimeout(60_000)
  })
  beforeEach(() => void opened.complaints.splice(0))
  afterAll(async () => {
    await closePages()
    await service.stop()
    removeFolder(service.folder)
  })

  const read = async (path: string) => (await service.call<Stored>('GET', `/api/v1/${path}`)).body
  const group = (name: string): Locator => page.getByRole('group', { name, exact: false }).last()
  const field = (within: Locator | Page, label: string): Locator => within.getByLabel(label, { exact: true }).first()
  const yaml = () => page.getByLabel('YAML', { exact: true })

  it('makes an agent by the form, which shows what the service finds wrong at its fields', async () => {
    await page.goto('/agents')
    await page.getByRole('link', { name: 'Create agent' }).first().click()
    await field(page, 'name (required)').fill('Not A Name')
    await field(group('model'), 'name').fill('large-model')
    await group('model').getByRole('button', { name: 'temperature', exact: true }).click()
    await field(group('model'), 'temperature').fill('warm')
    await group('providerRef').getByLabel('name (required)').fill('main')
    await page.getByRole('button', { name: 'Create the agent' }).click()
    const name = field(page, 'name (required)')
    await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true')
    expect(await field(group('model'), 'temperature').getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByRole('alert').textContent()).toContain('spec.model.temperature')

    // Each problem is counted in its section, and the first wrong field has the focus.
    const anchors = page.getByRole('navigation', { name: 'Sections of the form' })
    expect(await anchors.getByRole('link').allTextContents()).toEqual([
      'General 1 problem',
      'Model 1 problem',
      'Tools and skills',
      'Network',
      'Limits',
      'Advanced',
    ])
    await expect.poll(() => page.evaluate('document.activeElement?.getAttribute("aria-invalid")')).toBe('true')
    await anchors.getByRole('link', { name: 'Limits' }).click()
    await page
      .getByRole('region', { name: 'Limits' })
      .getByRole('button', { name: 'maxIterations', exact: true })
      .waitFor()
    expect(new URL(page.url()).hash).toBe('#form-limits')

    await name.fill('writer')
    await field(group('model'), 'temperature').fill('0.5')
    await page.getByRole('button', { name: 'Create the agent' }).click()
    await page.getByRole('heading', { name: 'writer', level: 1 }).waitFor()
    expect((await read('agents/writer')).spec).toEqual({
      providerRef: { name: 'main' },
      model: { name: 'large-model', temperature: 0.5 },
    })
  })

  it('has the tools of an agent as chips, each of which is on, off or taken away', async () => {
    const spec = { model: { name: 'm' }, tools: [{ name: 'web_fetch' }, { name: 'file_read' }] }
    await make(service, '/api/v1/agents', { name: 'handy', spec })
    await page.goto('/agents/default/handy?tab=edit')
    const tools = page.getByRole('group', { name: /^tools/ })
    await tools.getByRole('checkbox', { name: 'web_fetch' }).uncheck()
    await tools.getByRole('button', { name: 'Remove file_read' }).click()
    await tools.getByLabel('Add to tools').fill('file_write')
    await page.keyboard.press('Enter')
    await tools.getByRole('checkbox', { name: 'file_write' }).waitFor()
    await tools.getByLabel('Add to tools').fill('file_write')
    await tools.getByText('It is there already.').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('handy is saved').waitFor()
    expect((await read('agents/handy')).spec.tools).toEqual([
      { name: 'web_fetch', enabled: false },
      { name: 'file_write', enabled: true },
    ])
  })

  it('has the same object as YAML, in step with the form', async () => {
    await page.goto('/skills/new')
    await field(page, 'name (required)').fill('notes')
    await field(group('content'), 'inline (required)').fill('# Notes')
    await page.getByRole('button', { name: 'YAML' }).click()
    await expect.poll(() => yaml().inputValue()).toContain('inline: "# Notes"')

    const text = await yaml().inputValue()
    await yaml().fill(`${text}  tags: [writing\n`)
    expect(await page.locator('.field .problem').textContent()).toMatch(/^Line \d+: /)
    expect(await page.getByRole('button', { name: 'Create the skill' }).isDisabled()).toBe(true)
    await yaml().fill(`${text}  description: How we write\n  tags: [writing]\n  color: red\n`)
    await page.getByRole('button', { name: 'Create the skill' }).click()
    await page.getByText(/^Line \d+: is not a known field$/).waitFor()
    await yaml().fill(`${text}  description: How we write\n  tags: [writing]\n`)
    await page.getByRole('button', { name: 'Form' }).click()
    expect(await field(group('tags'), '1').inputValue()).toBe('writing')
    await group('tags').getByRole('button', { name: 'Add to tags' }).click()
    await field(group('tags'), '2').fill('release')
    await page.getByRole('button', { name: 'Create the skill' }).click()
    await page.getByRole('heading', { name: 'notes', level: 1 }).waitFor()
    expect((await read('skills/notes')).spec).toMatchObject({
      tags: ['writing', 'release'],
      content: { inline: '# Notes' },
    })
  })

  it('makes the key of a provider where it is needed, and never shows it again', async () => {
    await page.goto('/providers/new')
    await field(page, 'name (required)').fill('vendor')
    await field(page, 'type (required)').selectOption('llmo')
    await page.getByRole('button', { name: 'Create secret…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create secret' })
    await dialog.getByLabel('Name of the secret (required)').fill('vendor-key')
    await dialog.getByLabel('Value (required)').fill('never-to-be-shown')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await expect.poll(() => group('secretRef').getByLabel('name (required)').inputValue()).toBe('vendor-key')
    await page.getByRole('button', { name: 'Create the provider' }).click()
    await page.getByRole('heading', { name: 'vendor', level: 1 }).waitFor()
    await page.getByText('vendor-key / api-key').waitFor()
    expect(await page.content()).not.toContain('never-to-be-shown')
    expect((await read('providers/vendor')).spec.secretRef).toEqual({ name: 'vendor-key', key: 'api-key' })
  })

  it('overwrites nothing that somebody else has saved meanwhile, unless it is meant', async () => {
    const spec = { description: 'How', content: { inline: 'first' } }
    await make(service, '/api/v1/skills', { name: 'shared', spec })
    await page.goto('/skills/default/shared?tab=edit')
    await field(page, 'description').fill('How we do it')
    await service.call('PUT', '/api/v1/skills/shared', { spec: { ...spec, content: { inline: 'theirs' } } })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Somebody else has changed this skill since you opened it.').waitFor()
    expect((await read('skills/shared')).spec.description).toBe('How')
    await page.getByRole('button', { name: 'Load theirs' }).click()
    await expect.poll(() => field(group('content'), 'inline (required)').inputValue()).toBe('theirs')
    await field(page, 'description').fill('How we do it')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('shared is saved').waitFor()
    expect((await read('skills/shared')).spec).toMatchObject({
      description: 'How we do it',
      content: { inline: 'theirs' },
    })
  })

  it('asks before a form is left that was changed and not saved', async () => {
    await make(service, '/api/v1/skills', { name: 'draft', spec: { description: 'How', content: { inline: 'text' } } })
    await page.goto('/skills/default/draft?tab=edit')
    const question = page.getByRole('dialog', { name: 'Leave without saving?' })
    const tools = page.getByRole('link', { name: 'Tools', exact: true })
    await field(page, 'description').fill('Otherwise')
    await tools.click()
    await question.getByRole('button', { name: 'Stay' }).click()
    expect(await field(page, 'description').inputValue()).toBe('Otherwise')
    // In its other look it is the same form.
    await page.getByRole('button', { name: 'YAML' }).click()
    await expect.poll(() => yaml().inputValue()).toContain('description: Otherwise')
    await tools.click()
    await question.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Tools', level: 1 }).waitFor()
    // What is as it was is left without a word.
    await page.goto('/skills/default/draft?tab=edit')
    await field(page, 'description').waitFor()
    await tools.click()
    await page.getByRole('heading', { name: 'Tools', level: 1 }).waitFor()
  })

  it('keeps the name of an object', async () => {
    await make(service, '/api/v1/agents', { name: 'kept', spec: { model: { name: 'm' } } })
    await page.goto('/agents/default/kept?tab=edit&as=yaml')
    await yaml().fill((await yaml().inputValue()).replace('name: kept', 'name: other'))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Line 4: cannot be changed; create a new object instead').waitFor()
  })

  it('shows what is made and deleted elsewhere without being loaded again, and what uses a tool', async () => {
    await page.goto('/tools')
    await page.getByRole('table', { name: 'Built-in tools' }).getByRole('link', { name: 'web_fetch' }).waitFor()
    await make(service, '/api/v1/tools', {
      name: 'weather',
      spec: { description: 'The weather', http: { url: 'http://127.0.0.1:9/weather', method: 'GET' } },
    })
    await make(service, '/api/v1/agents', {
      name: 'forecaster',
      spec: { model: { name: 'm' }, tools: [{ name: 'weather' }] },
    })
    await page.getByRole('table', { name: 'Tools made here' }).getByRole('link', { name: 'weather' }).click()
    await page.getByRole('link', { name: 'forecaster' }).click()
    await page.getByRole('heading', { name: 'forecaster', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Agents', exact: true }).click()
    const agents = page.getByRole('table', { name: 'Agents' })
    await agents.getByRole('link', { name: 'forecaster' }).waitFor()
    await service.call('DELETE', '/api/v1/agents/forecaster')
    await agents.getByRole('link', { name: 'forecaster' }).waitFor({ state: 'detached' })
  })

  it('says which programs agents can run, and why not', async () => {
    await page.goto('/agents')
    await page.getByText('Programs that agents can run').click()
    const programs = page.getByRole('main').getByRole('listitem')
    await programs.filter({ hasText: 'opencode' }).waitFor()
  })

  it('asks before it deletes', async () => {
    await make(service, '/api/v1/agents', { name: 'doomed', spec: { model: { name: 'm' } } })
    await page.goto('/agents/default/doomed')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Keep it' }).click()
    expect((await service.call('GET', '/api/v1/agents/doomed')).status).toBe(200)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete the agent' }).click()
    await page.getByText('doomed is deleted').waitFor()
    expect((await service.call('GET', '/api/v1/agents/doomed')).status).toBe(404)
  })

  it('tries a provider and says what stands against it', async () => {
    const spec = { type: 'llmo', baseURL: 'http://127.0.0.1:9/v1' }
    await make(service, '/api/v1/providers', { name: 'nowhere', spec })
    await page.goto('/providers/default/nowhere')
    await page.getByRole('button', { name: 'Try it' }).click()
    await page.locator('[role=status] .badge[data-tone=bad]').first().waitFor()
  })

  it('marks the provider that answers where none is named', async () => {
    const spec = { type: 'llmo', baseURL: 'http://127.0.0.1:9/v1' }
    await make(service, '/api/v1/providers', { name: 'usual', spec: { ...spec, default: true } })
    await page.goto('/providers')
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    await row('usual').getByText('Default', { exact: true }).waitFor()
    expect(await row('nowhere').getByText('Default', { exact: true }).count()).toBe(0)
  })
})
