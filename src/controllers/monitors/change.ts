// The change of a pull request as the code host tells it, of exactly one head.
import type { PullRequestDetails, PullRequestFile } from '../../ports/codehost/code-host.ts'
import { isCodeHostError } from '../../ports/codehost/code-host.ts'
import { joinPatches } from '../../rules/monitors/diff-lines.ts'
import type { MonitorWork } from './settings.ts'

export type Change = { pullRequest: PullRequestDetails; files: PullRequestFile[]; diff: string }

/** A file that a task is given has at most 10 MiB. */
const longestDiff = 10 * 1024 * 1024

function cut(diff: string): string {
  if (Buffer.byteLength(diff) <= longestDiff) return diff
  const text = Buffer.from(diff).subarray(0, longestDiff).toString('utf8')
  return text.slice(0, text.lastIndexOf('\n') + 1)
}

async function readDiff({ host }: MonitorWork, number: number, files: readonly PullRequestFile[]): Promise<string> {
  try {
    return cut(await host.getDiff(number))
  } catch (error) {
    if (!isCodeHostError(error, 'TooLarge')) throw error
    return cut(joinPatches(files))
  }
}

/** Undefined when the head is another commit, before or after the change was read. */
export async function readChange(work: MonitorWork, number: number, headSHA: string): Promise<Change | undefined> {
  const before = await work.host.getPullRequest(number)
  if (before.head.commit !== headSHA) return undefined
  const files = await work.host.listFiles(number)
  const diff = await readDiff(work, number, files)
  const pullRequest = await work.host.getPullRequest(number)
  return pullRequest.head.commit === headSHA ? { pullRequest, files, diff } : undefined
}
