// Keeps the one comment in which commands of an issue or pull request are answered.
import type { CodeHost } from '../../../ports/codehost/code-host.ts'
import { findStatus, writeStatus } from '../../../rules/codehost/status-comment.ts'

export type StatusComments = {
  /** Writes it, or changes the one that is there. The errors of the code host. */
  show(host: CodeHost, number: number, text: { summary: string; detail?: string | undefined }): Promise<void>
}

export function createStatusComments(): StatusComments {
  /** One after another for each issue or pull request, so that none of them writes a second comment. */
  const last = new Map<string, Promise<void>>()

  async function write(host: CodeHost, number: number, body: string): Promise<void> {
    const [login, comments] = await Promise.all([host.getLogin(), host.listComments(number)])
    const found = findStatus(comments, login)
    if (found === undefined) await host.createComment(number, body)
    else if (found.body !== body) await host.updateComment(found.id, body)
  }

  return {
    async show(host, number, { summary, detail }) {
      const { owner, name } = host.repository
      const key = `${host.repository.host}/${owner}/${name}#${number}`.toLowerCase()
      const before = last.get(key) ?? Promise.resolve()
      const own = before.catch(() => undefined).then(() => write(host, number, writeStatus(summary, detail)))
      last.set(key, own)
      try {
        await own
      } finally {
        if (last.get(key) === own) last.delete(key)
      }
    },
  }
}
