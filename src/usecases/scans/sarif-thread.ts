// Reads a scanner's log in a thread of its own: one of 32 MiB takes seconds, in which nothing else would be served.
import { gzipSync } from 'node:zlib'
import { answerInThread } from '../../lib/thread-answers.ts'
import type { SarifReport } from '../../rules/scans/sarif-import.ts'

/** The bytes as they were sent. */
export type SarifRequest = { source: Uint8Array; root: string | undefined }

export type ReadLog =
  | { fault: string }
  | (Pick<SarifReport, 'skipped' | 'commit'> & {
      tools: string[]
      resultCount: number
      /** The report as JSON, compressed (gzip, base64): writing and reading 30 MB would hold everybody up. */
      content: string
    })

/** Of lists and objects; a usual log of 32 MiB has about 1.5 million. */
const maxValues = 4_000_000
const separators = new Set([',', '[', '{'].map((sign) => sign.charCodeAt(0)))

/** Parsed, 32 MiB of `{},{},` are 700 MiB, and no limit is looked at meanwhile. Those in texts count too. */
function hasMoreValues(text: string): boolean {
  let count = 0
  for (let at = 0; at < text.length && count <= maxValues; at += 1) if (separators.has(text.charCodeAt(at))) count += 1
  return count > maxValues
}

export const sarifModule = import.meta.url

void answerInThread<SarifRequest, ReadLog>(sarifModule, async () => {
  const [{ readSarif }, { decodeSource }] = await Promise.all([
    import('../../rules/scans/sarif-import.ts'),
    import('../../rules/scans/left-out.ts'),
  ])
  return ({ source, root }) => {
    const text = decodeSource(source)
    if (hasMoreValues(text)) return { fault: `it has more than ${maxValues} values; import it in parts` }
    const report = readSarif(text, root)
    if ('fault' in report) return report
    const { tools, skipped, commit } = report
    return {
      tools: tools.map(({ name }) => name),
      resultCount: tools.reduce((sum, { items }) => sum + items.length, 0),
      skipped,
      ...(commit !== undefined && { commit }),
      content: gzipSync(JSON.stringify(report)).toString('base64'),
    }
  }
})
