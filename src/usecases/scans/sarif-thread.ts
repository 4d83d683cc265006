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

export const sarifModule = import.meta.url

void answerInThread<SarifRequest, ReadLog>(sarifModule, async () => {
  const [{ readSarif }, { decodeSource }] = await Promise.all([
    import('../../rules/scans/sarif-import.ts'),
    import('../../rules/scans/left-out.ts'),
  ])
  return ({ source, root }) => {
    const report = readSarif(decodeSource(source), root)
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
