// A commit onto a branch of the server: forward only, or over the one commit that is known to be replaced.
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import { remoteAddress, runGitCommand } from './command.ts'
import { explainGit, toOneLine } from './faults.ts'
import { checkName, isCommitId } from './references.ts'
import { bridgePush, greetServer, type ServerOptions } from './server.ts'

export type Push = {
  gitDir: string
  commit: string
  branch: string
  /** Where the branch was when the checkout was prepared; null: nowhere; absent: nobody looked. */
  seen?: string | null | undefined
  lease?: string | undefined
  maxBytes: number
}

/** The server's side of the branch: `ID refs/heads/NAME`, the first with capabilities after a NUL. */
function findTip(lines: string[], branch: string): string | undefined {
  const line = lines.find((one) => one.split('\0')[0]?.slice(41) === `refs/heads/${branch}`)
  return line?.slice(0, 40)
}

function behind(branch: string): CheckoutError {
  const message = `Branch "${branch}" has other commits by now. Nothing was pushed; run the task again on its present state, or push to another branch.`
  return new CheckoutError('PushBehind', message)
}

function checkTip(push: Push, tip: string | undefined): void {
  const { branch, seen, lease } = push
  if (seen === undefined) return
  if (tip === undefined && seen !== null) {
    const message = `Branch "${branch}" was deleted at the server meanwhile. Nothing was pushed; push to another branch, or make it again.`
    throw new CheckoutError('PushBranchGone', message)
  }
  if (tip !== undefined && tip !== seen && tip !== lease) throw behind(branch)
}

const rejections =
  /non-fast-forward|fetch first|stale info|cannot lock ref|failed to update ref|incorrect old value|needs force/

/** `!	FROM:TO	[remote rejected] (reason)` (git-push(1), `--porcelain`). */
function explainRejection(branch: string, stdout: string, stderr: string): CheckoutError {
  const line = stdout.split('\n').find((one) => one.startsWith('!')) ?? ''
  if (line === '') return explainGit('push', stderr)
  const reason = toOneLine(line.split('\t').at(-1) ?? '')
  if (rejections.test(reason)) return behind(branch)
  const details = toOneLine(
    stderr
      .split('\n')
      .filter((one) => one.startsWith('remote:'))
      .join(' '),
  )
  const message = `The server refused the push to "${branch}": ${reason} ${details}`.trim()
  return new CheckoutError('PushProtected', `${message}. Push to a branch that is not protected.`)
}

export async function pushCommit(push: Push, server: ServerOptions, signal: AbortSignal): Promise<void> {
  const { gitDir, commit, branch, lease, maxBytes } = push
  const name = `refs/heads/${checkName(branch)}`
  const greeting = await greetServer(server, 'git-receive-pack', signal)
  const tip = findTip(greeting.lines, branch)
  if (tip === commit) return
  checkTip(push, tip)
  const force = lease !== undefined && tip === lease && isCommitId(lease) ? [`--force-with-lease=${name}:${lease}`] : []
  const args = ['push', '--porcelain', '--no-verify', ...force, remoteAddress, `${commit}:${name}`]
  const remote = bridgePush(greeting, maxBytes, signal)
  const { code, stdout, stderr } = await runGitCommand({ args, gitDir, remote, codes: [0, 1, 128], signal })
  if (code !== 0) throw explainRejection(branch, stdout.toString(), stderr)
}
