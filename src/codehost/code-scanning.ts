// Code scanning: findings given to the code host, which shows them with the code
// (https://docs.github.com/en/rest/code-scanning/code-scanning).
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type CodeHost, CodeHostError, isCodeHostError } from '../ports/codehost/code-host.ts'
import type { Calls } from './calls.ts'

/** Of the compressed log, in bytes. */
const maxCompressedBytes = 10 * 1024 * 1024

type Analysis = { commit: string; category: string | undefined }

const compress = promisify(gzip)

export function createCodeScanningCalls(
  calls: Calls,
): Pick<CodeHost, 'hasAnalysis' | 'uploadAnalysis' | 'getAnalysisUpload'> {
  /** The last 100; none where there is none of any tool. */
  async function listAnalyses(ref: string): Promise<Analysis[]> {
    try {
      const route = 'GET /repos/{owner}/{repo}/code-scanning/analyses'
      return await calls.get(route, { ref, per_page: 100 }, (list) =>
        list.map((one) => ({ commit: one.commit_sha, category: one.category })),
      )
    } catch (error) {
      if (isCodeHostError(error, 'NotFound')) return []
      throw error
    }
  }

  return {
    async hasAnalysis({ ref, commit, category }) {
      const known = await listAnalyses(ref)
      return known.some((one) => one.commit === commit && one.category === category)
    },
    async uploadAnalysis({ ref, commit, sarif }) {
      const packed = await compress(sarif)
      if (packed.length > maxCompressedBytes) {
        const size = `${packed.length} bytes when it is compressed`
        throw new CodeHostError('TooLarge', `the log has ${size}, and the code host takes ${maxCompressedBytes}`)
      }
      const parameters = { commit_sha: commit, ref, sarif: packed.toString('base64') }
      return calls.send('POST /repos/{owner}/{repo}/code-scanning/sarifs', parameters, ({ id }) => {
        if (id === undefined) throw new TypeError('there is no id')
        return id
      })
    },
    getAnalysisUpload: (id) =>
      calls.get(
        'GET /repos/{owner}/{repo}/code-scanning/sarifs/{sarif_id}',
        { sarif_id: id },
        ({ processing_status: state, errors }) => {
          if (state === undefined) throw new TypeError('there is no processing_status')
          return { state, errors: errors ?? [] }
        },
      ),
  }
}
