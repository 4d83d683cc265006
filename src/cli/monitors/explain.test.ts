import { describe, expect, it } from 'vitest'
import type { MonitorEvent, MonitorItem, MonitorReviewRecord } from '../../contract/api/monitors/monitor-records.ts'
import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'
import { skipReasons } from '../../rules/monitors/selection.ts'
import { explain, type Story } from './explain.ts'

const head = 'a'.repeat(40)
const event = (eventType: string, more: Partial<MonitorEvent> = {}) => ({ eventType, ...more }) as MonitorEvent
const monitorOf = (spec: object = {}, status: object = {}) =>
  ({
    metadata: { name: 'reviews' },
    spec: {
      targets: { pullRequests: { maxPerRun: 20 } },
      policy: { protectedLabels: ['Security'], pauseLabels: ['on-hold'] },
      review: {},
      ...spec,
    },
    status,
  }) as unknown as RepositoryMonitor
const itemOf = (more: Partial<MonitorItem> = {}) =>
  ({ state: 'open', labels: [], headSHA: head, ...more }) as unknown as MonitorItem

function explainItem(item: Partial<MonitorItem> | undefined, more: Partial<Story> = {}): string {
  const story = { monitor: monitorOf(), number: 42, events: [], ...more }
  const { what, todo = '' } = explain({ ...story, item: item && itemOf(item) })
  return `${what} | ${todo}`
}

const review = (more: object = {}) =>
  ({ findings: [], taskName: 'monrev-1', headSHA: head, ...more }) as unknown as MonitorReviewRecord
const reviewed = (more: Partial<MonitorItem> = {}) =>
  ({ lastVerdict: 'passed', lastReviewedHeadSHA: head, ...more }) as Partial<MonitorItem>

describe('why a pull request was skipped', () => {
  it.each([
    [{ skipReason: 'draft' }, /is a draft\. \| .*--drafts on/],
    [{ skipReason: 'missing_head_sha' }, /names no commit.* \| push/],
    [
      { skipReason: 'blocked_label', labels: ['security', 'x'] },
      /has the label "security", which spec.policy names\. \| take the label off/,
    ],
    [{ skipReason: 'over_limit' }, /one run has at most 20 reviewed\. \| .*monitor run reviews --pr 42.*--max-per-run/],
    [{ skipReason: 'over_limit', lastVerdict: 'passed' as const }, /Its last verdict was passed\./],
    [{ skipReason: 'something_new' }, /is not reviewed: something_new\./],
    [{ state: 'out_of_scope', lastVerdict: 'passed' as const, skipReason: 'x' }, /no longer looked at.*was passed/],
  ])('%j', (item, expected) => {
    expect(explainItem(item)).toMatch(expected)
  })

  it('has a sentence for each reason', () => {
    for (const skipReason of skipReasons.filter((one) => one !== 'review_pending' && one !== 'already_reviewed')) {
      expect(explainItem({ skipReason })).not.toContain(`: ${skipReason}.`)
    }
  })

  it('names the cause of what failed before', () => {
    const events = [event('review_result_rejected', { summary: 'no JSON\nin it' })]
    expect(explainItem({ skipReason: 'review_failed_recently', lastVerdict: 'failed' }, { events })).toMatch(
      /its last review failed \(no JSON in it\)\. .*\| to review it now: .*monitor run reviews --pr 42/,
    )
    const failed = explainItem({ lastVerdict: 'failed' }, { events, review: review() })
    expect(failed).toMatch(/counts for nothing, verdict failed \(no JSON in it\).*task logs monrev-1/)
    expect(explainItem({ lastVerdict: 'stale' }, { review: review({ summary: 'the head has moved' }) })).toContain(
      'has moved',
    )
  })

  it('cuts what others wrote to one line', () => {
    const events = [event('review_result_rejected', { summary: `a\n${'b'.repeat(1000)}` })]
    const text = explainItem({ lastVerdict: 'failed' }, { events })
    expect(text).not.toContain('\n')
    expect(text.length).toBeLessThan(600)
  })
})

it('leaves what is too large to a person', () => {
  const explainEvent = (name: string) =>
    explainItem(reviewed({ lastVerdict: 'needs_human' }), { events: [event(name, { summary: 'too large' })] })
  expect(explainEvent('review_result_rejected')).toMatch(/counts for nothing.*\(too large\)\. \| .*a person/)
  expect(explainEvent('review_result_ingested')).toMatch(/was reviewed at/)
})

describe('why nothing was seen of a pull request', () => {
  it.each([
    ['not_open', 'closed or merged'],
    ['other_base_branch', 'another branch'],
    ['head_sha_mismatch', 'another commit'],
  ])('%s', (reason, expected) => {
    const events = [event('inventory_skipped', { metadata: { reason, number: 42 } })]
    expect(explainItem(undefined, { events })).toContain(expected)
  })

  const ready = (message: string) => ({ conditions: [{ type: 'Ready', status: 'False', reason: 'X', message }] })
  it.each([
    [monitorOf(), /never seen open against the monitored branch: no run has looked yet\. \| .*monitor run/],
    [monitorOf({ branch: 'main' }, { lastRunTime: 'noon' }), /the branch main: the last run looked at noon/],
    [monitorOf({ suspend: true }), /suspended.* \| .*--suspend off/],
    [monitorOf({}, ready('the secret is gone')), /cannot work: the secret is gone\. \| change what is wrong/],
    [monitorOf({}, { heldUpUntil: 'one' }), /no more requests until one.* \| wait/],
  ])('%#', (monitor, expected) => {
    expect(explainItem(undefined, { monitor })).toMatch(expected)
  })
})

describe('a pull request of which nothing is known', () => {
  it('whose run failed is not advised to be run again', () => {
    const run = { phase: 'failed', error: 'github.com has no such thing' } as Story['run']
    const monitor = monitorOf({ owner: 'acme', repository: 'site' })
    expect(explainItem(undefined, { monitor, run })).toMatch(
      /looked for pull request 42, and failed: github.com has no such thing\. \| check the number: .*acme\/site/,
    )
    expect(explainItem(undefined, { run: { phase: 'queued' } as Story['run'] })).toMatch(/right now\. \| wait/)
  })
})

describe('what came of a review', () => {
  it('that is under way', () => {
    expect(explainItem({ lastVerdict: 'queued', lastReviewID: 'monrev-reviews-42' })).toMatch(
      /is being reviewed at aaaaaaaaaa\. \| follow it: .*task logs monrev-reviews-42/,
    )
    const events = [event('review_task_created', { metadata: { taskName: 'monval-1' } })]
    expect(explainItem({ lastVerdict: 'queued', lastReviewID: 'monreview-old' }, { events })).toContain(
      'task logs monval-1',
    )
    const monitor = monitorOf({}, { heldUpUntil: 'one' })
    expect(explainItem({ lastVerdict: 'queued' }, { monitor })).toMatch(/is being reviewed .* until one/)
  })

  it('that ended, with where it is posted', () => {
    const posted = reviewed({ lastPublishPhase: 'succeeded', lastPublishURL: 'https://x/1' })
    expect(explainItem(posted, { review: review({ findings: [{}] }) })).toMatch(
      /was reviewed at aaaaaaaaaa: passed with 1 finding\. It is posted at https:\/\/x\/1\. \| read it: .*monitor reviews reviews --pr 42/,
    )
    expect(explainItem(reviewed({ headSHA: 'b'.repeat(40) }))).toMatch(/Its head is bbbbbbbbbb now/)
  })

  it.each([
    ['publish_disabled', /posts nothing\. \| .*monitor post reviews --pr 42.*--publish inline/],
    ['verdict_not_configured', /were not to be\. \| .*monitor post reviews --pr 42/],
    ['missing_git_secret', /no login.* \| .*--secret/],
    ['security_sensitive_not_public', /not published\. \| read it/],
    ['nothing_new', /shown before/],
    ['something_new', /not posted: something_new/],
  ])('that was not posted for %s', (lastPublishReason, expected) => {
    expect(explainItem(reviewed({ lastPublishPhase: 'skipped', lastPublishReason }))).toMatch(expected)
  })

  it('looks at the monitor as it is now: what was changed since is not advised again', () => {
    const unposted = (lastPublishReason: string) => reviewed({ lastPublishPhase: 'skipped', lastPublishReason })
    const posting = monitorOf({ review: { publish: { enabled: true } }, gitSecretRef: { name: 'login' } })
    const disabled = explainItem(unposted('publish_disabled'), { monitor: posting })
    expect(disabled).toMatch(/posts by now.*\| .*monitor post reviews --pr 42$/)
    expect(disabled).not.toContain('--publish')
    expect(explainItem(unposted('missing_git_secret'), { monitor: posting })).toMatch(/it is going to be posted/)
    const targets = { pullRequests: { maxPerRun: 20, includeDrafts: true } }
    const draft = explainItem({ skipReason: 'draft' }, { monitor: monitorOf({ targets }) })
    expect(draft).toMatch(/reviews drafts by now.*\| .*monitor run reviews --pr 42/)
    expect(explainItem({ skipReason: 'blocked_label', labels: ['gone'] })).toMatch(
      /nothing in spec.policy names by now/,
    )
  })

  it('that the code host refused', () => {
    const events = [event('review_publish_failed', { metadata: { error: 'a right is missing' } })]
    const failed = reviewed({ lastPublishPhase: 'failed', lastPublishReason: 'codehost_permission_denied' })
    expect(explainItem(failed, { events })).toMatch(/refused to take it: a right is missing\. \| .*pull_requests=write/)
    expect(explainItem({ ...failed, lastPublishReason: 'codehost_api_error' })).toMatch(
      /codehost_api_error.*tried again/,
    )
  })
})
