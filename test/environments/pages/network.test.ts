// What a task reaches, in a real browser: the question about a host with its three answers, and the hosts on the page of the task.
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { probeBubblewrap } from '../../../src/runtime/local/confinement/bubblewrap.ts'
import { chromiumPath, type OpenedDashboard, openDashboard } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { waitFor } from '../../fixtures/time.ts'
import { createTask } from '../../scenarios/service.ts'

const probe = await probeBubblewrap()

describe.skipIf(chromiumPath === undefined || !probe.available)('the network of a task', () => {
  const started = useService()
  let opened: OpenedDashboard
  beforeAll(async () => {
    const script = 'while true; do curl -s --max-time 5 http://unlisted.example/; sleep 0.2; done'
    const network = { allow: ['pypi.org'], onUnknown: 'ask' }
    await createTask(started.service, 'reaches', { type: 'container', command: ['sh', '-c', script], network })
    opened = await openDashboard(started.service)
  })
  // A refused request is told on the console by the browser itself.
  const isOwn = (text: string) => !text.startsWith('Failed to load resource')
  afterEach(() => expect(opened.complaints.splice(0).filter(isOwn)).toEqual([]))

  it('has a question for each host, which is answered as far as the button says', async () => {
    const { page } = opened
    await page.goto('/')
    const question = page.getByRole('region', { name: /^reaches asks: / })
    await question.getByText('May it reach unlisted.example:80?').waitFor()
    const names = await question.getByRole('button').allTextContents()
    expect(names).toEqual(['For this task', 'Once', 'Always', 'Deny'])
    await question.getByRole('button', { name: 'Always' }).click()
    await page.getByText('has a network of its own').waitFor()
    await question.getByRole('button', { name: 'Once' }).click()
    await waitFor(async () => {
      const answer = await started.service.call<{ items: { scope?: string }[] }>(
        'GET',
        '/api/v1/approvals?status=approved',
      )
      return answer.body.items.some(({ scope }) => scope === 'once')
    }, 'the answer is stored')
  })

  it('lists hosts on a tab of the page, with their count', async () => {
    const { page } = opened
    await page.goto('/tasks/default/reaches')
    await page.getByRole('link', { name: /^Network/ }).click()
    await page.getByText('unlisted.example:80').first().waitFor()
    await page.getByText('a person is asked', { exact: true }).waitFor()
    await page.getByText('the task itself').waitFor()
    await page.getByText('A network that allows what it reached and asked for').click()
    await page.getByRole('region', { name: 'spec.network' }).getByText('- unlisted.example').waitFor()
  })
})
