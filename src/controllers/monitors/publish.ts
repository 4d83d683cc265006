// Publishes a review at the code host, once for each commit, whatever is interrupted.
import type { MonitorReviewRecord } from '../../contract/api/monitors/monitor-records.ts'
import { isCodeHostError, type LineComment, type PullRequestDetails } from '../../ports/codehost/code-host.ts'
import type { ItemState, Publishing } from '../../ports/monitors/monitors.ts'
import { type DiffLines, readDiffLines } from '../../rules/monitors/diff-lines.ts'
import {
  chooseInline,
  findReviewSkip,
  findStateSkip,
  maxReviewBodyLength,
  type PublishSkip,
  passingReasons,
  writeInlineComment,
  writePublishMarker,
  writeReviewBody,
} from '../../rules/monitors/publish.ts'
import { writeMarker } from '../../rules/monitors/review-marker.ts'
import { readChange } from './review-tasks.ts'
import { type MonitorWork, recordItemEvent, saveItem } from './settings.ts'

const retryMs = 300_000

type Outcome = { publishing: Publishing; retry: boolean }

function makePublishing(work: MonitorWork, review: MonitorReviewRecord): Publishing {
  const { number, headSHA, id: reviewID } = review
  const startedAt = work.deps.clock.now().toISOString()
  return { id: work.deps.ids.next('monpub'), number, headSHA, reviewID, phase: 'started', findings: [], startedAt }
}

/** Also what a person has asked for is tried again. */
function scheduleRetry({ deps: { clock } }: MonitorWork, { publishWish }: ItemState): Partial<ItemState> {
  const publishRetryAt = new Date(clock.now().getTime() + retryMs).toISOString()
  return { publishRetryAt, ...(publishWish && { publishWish }) }
}

/** Stores how it ended, where people look for it. */
async function conclude(work: MonitorWork, item: ItemState, { publishing, retry }: Outcome): Promise<ItemState> {
  const { clock, records } = work.deps
  const ended = { ...publishing, endedAt: clock.now().toISOString() }
  const { id, phase, reason, error, url } = ended
  await records.monitors.endPublishing(work.key, ended)
  const { publishRetryAt: _retryAt, publishWish: _wish, lastPublishReason: before, lastPublishURL, ...rest } = item
  const later = retry ? scheduleRetry(work, item) : {}
  const shown = url ?? (phase === 'succeeded' ? undefined : lastPublishURL)
  const about = { ...(reason && { lastPublishReason: reason }), ...(shown && { lastPublishURL: shown }) }
  const saved = await saveItem(work, { ...rest, ...about, ...later, lastPublishID: id, lastPublishPhase: phase })
  if (before === reason && item.lastPublishPhase === phase && phase !== 'succeeded') return saved
  const summary = `the review of pull request ${item.number} was ${phase === 'succeeded' ? 'published' : `not published: ${reason}`}`
  const metadata = {
    publishID: id,
    phase,
    ...(reason && { skipReason: reason }),
    ...(error && { error }),
    findings: ended.findings.length,
  }
  await recordItemEvent(work, item, { eventType: `review_publish_${phase}`, summary, metadata })
  return saved
}

function skipped(publishing: Publishing, reason: PublishSkip): Outcome {
  return { publishing: { ...publishing, phase: 'skipped', reason }, retry: passingReasons.includes(reason) }
}

const permanent = {
  LoginRefused: 'codehost_permission_denied',
  MissingRight: 'codehost_permission_denied',
  NotFound: 'codehost_permission_denied',
  Invalid: 'codehost_permanent_error',
  Moved: 'codehost_permanent_error',
  Archived: 'codehost_permanent_error',
  TooLarge: 'codehost_permanent_error',
} as const

/** What was refused for good is not tried again. */
function failed(publishing: Publishing, error: unknown): Outcome {
  if (!isCodeHostError(error) || error.fault === 'HeldUp') throw error
  const reason = permanent[error.fault as keyof typeof permanent]
  const how = { phase: 'failed' as const, reason: reason ?? 'codehost_api_error', error: error.message }
  return { publishing: { ...publishing, ...how }, retry: reason === undefined }
}

type Post = { body: string; comments: LineComment[]; findings: string[] }

function compose(work: MonitorWork, review: MonitorReviewRecord, publishing: Publishing, lines: DiffLines): Post {
  const { publish } = work.monitor.spec.review
  const inline =
    publish === undefined
      ? []
      : chooseInline(review.findings, publish, (file, line) => lines.get(file)?.added.has(line) ?? false)
  const fresh = review.findings.filter(({ state }) => state === 'new')
  const listed = fresh.filter((finding) => !inline.includes(finding))
  const { namespace, name } = work.monitor.metadata
  const marker = {
    namespace,
    name,
    pr: review.number,
    head: review.headSHA,
    run: review.runID,
    review: review.id,
    publish: publishing.id,
  }
  const reviewed = { repository: work.repository, number: review.number, head: review.headSHA }
  const body = writeReviewBody({
    review,
    listed,
    repeated: review.findings.filter(({ state }) => state === 'shown').length,
    markers: [writePublishMarker(marker), writeMarker(reviewed, work.deps.settings.markerKeys)],
  })
  const comments = inline.map((finding): LineComment => {
    return { path: finding.file ?? '', line: finding.line ?? 1, side: 'RIGHT', body: writeInlineComment(finding) }
  })
  return { body, comments, findings: fresh.map(({ id }) => id) }
}

function stateOf({ state, draft, labels, head, base }: PullRequestDetails) {
  return { open: state === 'open', draft, labels, headSHA: head.commit, baseBranch: base.branch }
}

async function post(work: MonitorWork, review: MonitorReviewRecord, publishing: Publishing): Promise<Outcome> {
  const { number, headSHA } = review
  const now = await work.host.getPullRequest(number)
  const skip = findStateSkip(stateOf(now), review, { branch: work.branch, rules: work.monitor.spec })
  if (skip !== undefined) return skipped(publishing, skip)
  const change = await readChange(work, number, headSHA)
  if (change === undefined) return skipped(publishing, 'head_sha_changed')
  const { body, comments, findings } = compose(work, review, publishing, readDiffLines(change.diff))
  if (Buffer.byteLength(body) > maxReviewBodyLength) return skipped(publishing, 'body_too_large')
  if (!(await work.deps.records.monitors.startPublishing(work.key, { ...publishing, findings }))) {
    return skipped(publishing, 'duplicate_same_head')
  }
  const posted = await work.host.postReview(number, { event: 'COMMENT', body, commit: headSHA, comments })
  return { publishing: { ...publishing, findings, phase: 'succeeded', url: posted.url }, retry: false }
}

/** What was posted before the service ended, known by the id that nobody else could know. */
async function recover(work: MonitorWork, item: ItemState, started: Publishing): Promise<ItemState | undefined> {
  const reviews = await work.host.listReviews(item.number)
  const posted = reviews.find(({ body }) => body.includes(`publish=${started.id} -->`))
  if (posted === undefined) {
    // Nothing was posted, so the same commit may be published anew.
    await work.deps.records.monitors.endPublishing(work.key, { ...started, phase: 'failed', reason: 'interrupted' })
    return undefined
  }
  return conclude(work, item, { publishing: { ...started, phase: 'succeeded', url: posted.url }, retry: false })
}

/** Whether it is unknown if the last try posted anything. */
async function findStarted(work: MonitorWork, item: ItemState): Promise<Publishing | undefined> {
  const publishings = await work.deps.records.monitors.listPublishings(work.key, item.number)
  return publishings.find(({ phase, headSHA }) => phase === 'started' && headSHA === item.headSHA)
}

/** Publishes the last review, or says why not. Rejects only where the code host cannot be asked. */
export async function publishReview(work: MonitorWork, item: ItemState): Promise<ItemState> {
  const { monitors } = work.deps.records
  const review = await monitors.getReview(work.key, item.lastReviewID ?? '')
  if (review === undefined) return item
  const started = await findStarted(work, item)
  const recovered = started && (await recover(work, item, started))
  if (recovered !== undefined) return recovered
  const earlier = await monitors.listPublishings(work.key, item.number)
  const done = earlier.find(({ phase, reviewID }) => phase === 'succeeded' && reviewID === review.id)
  if (done !== undefined) return conclude(work, item, { publishing: done, retry: false })
  const publishing = makePublishing(work, review)
  const hasPublished = earlier.some(({ phase }) => phase === 'succeeded')
  const isWished = item.publishWish === review.id
  const skip = findReviewSkip(review, work.monitor.spec, { hasPublished, isWished })
  if (skip !== undefined) return conclude(work, item, skipped(publishing, skip))
  const outcome = await post(work, review, publishing).catch((error: unknown) => failed(publishing, error))
  // A write whose outcome is unknown stays started: the next try looks whether it was done.
  const isUnknown = outcome.publishing.phase === 'failed' && outcome.retry
  if (isUnknown && (await findStarted(work, item)) !== undefined) {
    const retryAt = new Date(work.deps.clock.now().getTime() + retryMs).toISOString()
    return saveItem(work, {
      ...item,
      publishRetryAt: retryAt,
      lastPublishPhase: 'started',
      lastPublishID: publishing.id,
    })
  }
  return conclude(work, item, outcome)
}
