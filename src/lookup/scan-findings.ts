// Every finding of a scan, page by page.
import type { Finding, Findings } from '../ports/scans/findings.ts'
import type { PagePlace } from '../ports/scans/scans.ts'

const pageSize = 200

/** Pages from the front, up to one that last changed before `since`. */
async function* listSince(findings: Pick<Findings, 'list'>, scanUid: string, since: string): AsyncGenerator<Finding[]> {
  let after: PagePlace | undefined
  do {
    const page = await findings.list(scanUid, { limit: pageSize, after })
    yield page.items
    const isOld = (page.items.at(-1)?.updatedAt ?? '') < since
    after = isOld ? undefined : page.next
  } while (after !== undefined)
}

/** Those that last changed first. What changes meanwhile moves to the front, so the front is read again until all is known. */
export async function* listEachFinding(findings: Pick<Findings, 'list'>, scanUid: string): AsyncGenerator<Finding> {
  const seen = new Set<string>()
  let since = ''
  let before = -1
  while (seen.size > before) {
    before = seen.size
    let newest: string | undefined
    for await (const page of listSince(findings, scanUid, since)) {
      newest ??= page[0]?.updatedAt ?? ''
      const unseen = page.filter(({ id }) => !seen.has(id))
      for (const { id } of unseen) seen.add(id)
      yield* unseen
    }
    since = newest ?? ''
  }
}
