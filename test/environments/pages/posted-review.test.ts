// A monitor that posts nothing by itself, in a real browser: a person reads the review of a real reviewer, and posts it.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RepositoryMonitor } from '../../../src/contract/kinds/monitors/repository-monitor.ts'
import { hasOpenssl } from '../../fixtures/certificates.ts'
import {
  hasReviewer,
  type Model,
  readInput,
  reviewerHint,
  reviewerPath,
  startReviewer,
  writeVerdict,
} from '../../fixtures/codehost/reviewer.ts'
import { type CodeHostStand, openCodeHostStand } from '../../fixtures/codehost/stand.ts'
import { chromiumPath, closePages, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { make } from '../../fixtures/dashboard/samples/make.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

const canRun = hasReviewer && hasOpenssl && chromiumPath !== undefined
const judge: Model = ({ turn, seen }) => [readInput('md'), readInput('diff')][turn] ?? writeVerdict(seen)
const monitor = '/api/v1/monitors/repositories/reviews'

describe.runIf(canRun)(`a review on its monitor's page${reviewerHint}`, () => {
  let stand: CodeHostStand
  let reviewer: Awaited<ReturnType<typeof startReviewer>>
  let service: Service
  let page: Page
  let pull: number
  beforeAll(async () => {
    stand = await openCodeHostStand({ entries: { 'README.md': '# Site\n' } })
    reviewer = await startReviewer()
    reviewer.use(judge)
    service = await startService({ flags: stand.flags, env: { ...stand.env, PATH: reviewerPath } })
    await make(service, '/api/v1/secrets', { name: 'login', stringData: { token: stand.codeHost.tokenOf('writer') } })
    await make(service, '/api/v1/secrets', { name: 'vendor', stringData: reviewer.secret })
    const agent = { runtime: { type: 'llma-cli' }, model: { name: 'test-model' }, secretRef: { name: 'vendor' } }
    await make(service, '/api/v1/agents', { name: 'reviewer', spec: agent })
    const spec = { repoURL: stand.url, gitSecretRef: { name: 'login' }, agents: { reviewer: { name: 'reviewer' } } }
    await make(service, '/api/v1/monitors/repositories', { name: 'reviews', spec })
    pull = (await stand.openPull({ title: 'Another word', entries: { 'a.md': 'a\n' } })).number
    page = (await openDashboard(service)).page
    page.setDefaultTimeout(60_000)
  })
  afterAll(async () => {
    await closePages()
    await service.stop()
    await reviewer.stop()
    await stand.close()
    removeFolder(service.folder)
  })

  const setLogin = async (gitSecretRef?: { name: string }) => {
    const { body } = await service.call<RepositoryMonitor>('GET', monitor)
    const changed = { metadata: body.metadata, spec: { ...body.spec, gitSecretRef } }
    expect((await service.call('PUT', monitor, changed)).status).toBe(200)
  }
  const answer = async (word: string) => {
    await page.getByRole('button', { name: 'Post review' }).click()
    await page.getByRole('dialog').getByRole('button', { name: word }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  it('is posted only when that is confirmed, and a refusal is told', async () => {
    await page.goto('/monitors/default/reviews')
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('link', { name: 'Another word' }).click()
    const panel = page.getByRole('complementary')
    await panel.getByText('The monitor posts nothing by itself.').waitFor()
    await answer('Do not post')
    // The login goes while the request is under way: without one nothing is offered.
    await page.route('**/publish?*', async (route) => {
      await setLogin()
      await route.continue()
    })
    await answer('Post the review')
    await page.getByText('the monitor has no login for the code host').waitFor()
    expect(await stand.listReviews(pull)).toEqual([])
    await page.unroute('**/publish?*')
    await page.reload()
    await panel.getByText('The monitor posts nothing by itself.').waitFor()
    expect(await page.getByRole('button', { name: 'Post review' }).count()).toBe(0)
    await setLogin({ name: 'login' })
    await page.reload()
    await answer('Post the review')
    await page.getByText('Posted at').waitFor()
    expect(await page.getByRole('button', { name: 'Post review' }).count()).toBe(0)
    expect(await stand.listReviews(pull)).toMatchObject([{ body: expect.stringContaining('One token is lost.') }])
  })
})
