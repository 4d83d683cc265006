// ETags: what a read returns, and what If-None-Match and If-Match compare with (HTTP-037, HTTP-039).
import { hash } from 'node:crypto'

/** The tag of a stored object is its resourceVersion, so that clients can send it back as If-Match. */
export function tagOfVersion(resourceVersion: string): string {
  return `W/"${resourceVersion}"`
}

/** The tag of anything else is a hash of the body. */
export function tagOfText(text: string): string {
  return `W/"${hash('sha1', text, 'base64url')}"`
}

function splitTags(header: string): string[] {
  return header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
}

/** Whether If-None-Match names the tag (weak comparison, RFC 9110 section 8.8.3.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  const tags = splitTags(header)
  return tags.includes('*') || tags.includes(tag.replace(/^W\//, ''))
}

/**
 * The resourceVersion that If-Match asks for; undefined when the header is absent or `*`. A list of tags is
 * taken as plain text, so it matches no version. The part of a tag after a dot is about other parts of
 * the answer.
 */
export function versionOfIfMatch(header: string | undefined): string | undefined {
  const text = header?.trim()
  if (text === undefined || text === '' || text === '*') return undefined
  return text
    .replace(/^W\//, '')
    .replace(/^"(.*)"$/, '$1')
    .replace(/\.[\s\S]*$/, '')
}
