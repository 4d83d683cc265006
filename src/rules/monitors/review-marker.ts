// The hidden mark of a posted review: which repository, pull request and head it is about, signed so that nobody else makes one
// (CODEHOST-031..039).
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Repository, repositoryKey } from '../../contract/values/repository-url.ts'

export const markerVariables = {
  secret: 'SVC_PR_REVIEW_MARKER_SECRET',
  previousSecrets: 'SVC_PR_REVIEW_MARKER_PREVIOUS_SECRETS',
  trustedAuthor: 'SVC_PR_REVIEW_MARKER_TRUSTED_AUTHOR',
} as const

/** Whether the code of a task may not have the variable. */
export function isMarkerKey(name: string): boolean {
  return name === markerVariables.secret || name === markerVariables.previousSecrets
}

type MarkedHead = { repository: Pick<Repository, 'owner' | 'name'>; number: number; head: string }

/** The first one signs; every one is accepted. Never empty. */
export type MarkerKeys = readonly (string | Uint8Array)[]

/** Bounded, because strangers write what is searched. */
const anyMarker = /<!-- {0,8}svc:pr-review\b[^<>]{0,400}-->/g

function sign({ repository, number, head }: MarkedHead, key: string | Uint8Array): string {
  return createHmac('sha256', key)
    .update(`${repositoryKey(repository)}\n${number}\n${head.toLowerCase()}`)
    .digest('hex')
}

function writeMarkerWith(reviewed: MarkedHead, key: string | Uint8Array): string {
  const { repository, number, head } = reviewed
  const fields = `repo=${repositoryKey(repository)} pr=${number} head_sha=${head.toLowerCase()}`
  return `<!-- svc:pr-review ${fields} sig=${sign(reviewed, key)} -->`
}

export function writeMarker(reviewed: MarkedHead, keys: MarkerKeys): string {
  return writeMarkerWith(reviewed, keys[0] as string | Uint8Array)
}

/** As long as it takes to look at both in whole, wherever they differ. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}

/** Whatever looks like a marker, in the order of the text. */
export function listMarkers(text: string): string[] {
  return text.match(anyMarker) ?? []
}

/** Whether a marker says exactly this, under any of the keys. */
export function isMarkerOf(marker: string, reviewed: MarkedHead, keys: MarkerKeys): boolean {
  return keys.map((key) => isSame(marker, writeMarkerWith(reviewed, key))).includes(true)
}

/** The head that a marker is about, if it is one of ours for this pull request, whatever the head. */
export function readMarkedHead(
  marker: string,
  reviewed: Omit<MarkedHead, 'head'>,
  keys: MarkerKeys,
): string | undefined {
  const head = / head_sha=([0-9a-f]{40,64}) /.exec(marker)?.[1]
  return head !== undefined && isMarkerOf(marker, { ...reviewed, head }, keys) ? head : undefined
}

function isLegacy(text: string, head: string): boolean {
  return text.toLowerCase().includes(`<!-- svc:pr-review head_sha=${head.toLowerCase()} -->`)
}

type MarkedReview = { body: string; author: string }

/**
 * The first review that has a marker for this head: a signed one from anybody, or one of the old form, without a signature, from the
 * trusted author. `trustedAuthor` is asked for only when one of the old form is there; undefined: nobody is trusted.
 */
export async function findMarked<R extends MarkedReview>(
  reviews: readonly R[],
  {
    reviewed,
    keys,
    trustedAuthor,
  }: { reviewed: MarkedHead; keys: MarkerKeys; trustedAuthor(): Promise<string | undefined> },
): Promise<R | undefined> {
  const signed = reviews.find(({ body }) => listMarkers(body).some((marker) => isMarkerOf(marker, reviewed, keys)))
  if (signed !== undefined) return signed
  const legacy = reviews.filter(({ body }) => isLegacy(body, reviewed.head))
  if (legacy.length === 0) return undefined
  const trusted = (await trustedAuthor())?.toLowerCase()
  return legacy.find(({ author }) => author.toLowerCase() === trusted)
}
