// Git repositories that tasks work in.
import { z } from 'zod'
import { define, quantity, text, whole } from '../fields.ts'

/** Git takes no name without a letter or digit. */
const person = /^([^<>\p{Cc}]*[\p{L}\p{N}][^<>\p{Cc}]*) <([^<>\s\p{Cc}]+@[^<>\s\p{Cc}]+)>$/u

/** `Ada <ada@example.com>`, as git writes it. */
const author = z.string('must be text').transform((text, context) => {
  const [, name, email] = person.exec(text) ?? []
  if (name !== undefined && email !== undefined) return { name: name.trim(), email }
  context.addIssue('must be a name and an address, such as Ada <ada@example.com>')
  return z.NEVER
})

/** Git repositories that tasks work in. */
export const gitSettings = {
  gitAuthor: define(author.optional(), {
    help: 'author of the commits that tasks push (default: svc <svc@localhost>)',
    example: 'Build bot <bot@example.com>',
    placeholder: 'person',
  }),
  gitSigningKey: define(text.optional(), {
    help: 'private key of SSH, without a passphrase, that these commits are signed with (default: they are not signed)',
    example: '/etc/svc/signing-key',
    placeholder: 'file',
  }),
  gitWorkspaceSize: define(quantity.default('10Gi'), {
    help: 'bytes that the workspace of a task in a repository may hold, unless the task sets it (resources.limits.ephemeral-storage)',
    placeholder: 'quantity',
  }),
  gitWorkspaceFiles: define(whole(64).default(1_048_576), {
    help: 'files that such a workspace may hold; on a cluster only bytes are limited',
  }),
  gitCacheSize: define(quantity.default('20Gi'), {
    help: 'bytes that objects of repositories may take, so that they are not fetched again; swept every hour',
    placeholder: 'quantity',
  }),
} as const
