// Payloads of the code host's webhook, as far as they are read
// (https://docs.github.com/webhooks/webhook-events-and-payloads), and the event that is kept of one.
import { z } from 'zod'
import { limitedText } from '../../schema/text.ts'

/** Text of users is cut here; the code host itself allows 65,536 characters of a body. */
const maxLengths = { title: 1024, body: 65_536, name: 256 } as const

const short = limitedText(maxLengths.name)
/** Any text, cut. */
const cut = (maxLength: number) => z.string().transform((value) => value.slice(0, maxLength))
const User = z.object({ login: short, type: limitedText(32).optional() })

const Repository = z.object({
  full_name: short.regex(/^[A-Za-z0-9._-]+\/[A-Za-z0-9._-]+$/, 'must be owner/name'),
  html_url: z.url().max(2048),
  clone_url: z.url().max(2048),
  default_branch: short.optional(),
})

const number = z.int().min(1).max(2_147_483_647)

const Described = z.object({
  number,
  title: cut(maxLengths.title).nullish(),
  body: cut(maxLengths.body).nullish(),
  html_url: z.url().max(2048),
  state: limitedText(32).optional(),
  updated_at: limitedText(64).nullish(),
  user: User.nullish(),
})

const Issue = Described.extend({ pull_request: z.unknown().optional() })

/** A fork that was deleted has no repository. */
const Side = z.object({
  ref: short,
  sha: z.string().regex(/^[0-9a-f]{7,64}$/, 'must be a commit'),
  repo: Repository.nullish(),
})

const PullRequest = Described.extend({ draft: z.boolean().nullish(), head: Side, base: Side })

/** What the events that lead to something have in common. */
export const CodeHostPayload = z.object({
  action: limitedText(64),
  repository: Repository,
  sender: User.optional(),
  label: z.object({ name: short }).nullish(),
  issue: Issue.optional(),
  pull_request: PullRequest.optional(),
  comment: z
    .object({
      id: z.int().min(1),
      body: cut(maxLengths.body).nullish(),
      html_url: z.url().max(2048),
      created_at: limitedText(64).nullish(),
      user: User.nullish(),
    })
    .optional(),
})
export type CodeHostPayload = z.infer<typeof CodeHostPayload>

/** What any payload may say; for events that lead to nothing. */
export const AnyPayload = z.object({
  action: limitedText(64).optional().catch(undefined),
  repository: z.object({ full_name: short }).optional().catch(undefined),
  sender: z.object({ login: short }).optional().catch(undefined),
})

/** Events that can lead to something. */
export const workedEvents = ['issues', 'pull_request', 'issue_comment'] as const
/** One of them. */
export type WorkedEvent = (typeof workedEvents)[number]

/** A repository of the code host. */
export type CodeHostRepository = { fullName: string; url: string; cloneURL: string; defaultBranch?: string | undefined }

/** One side of a pull request; without a repository when the fork was deleted. */
export type CodeHostSide = { branch: string; sha: string; repository?: CodeHostRepository | undefined }

/** The issue or pull request of an event. */
export type CodeHostTarget = {
  kind: 'issue' | 'pull_request'
  number: number
  title: string
  body: string
  url: string
  author?: string | undefined
  isOpen: boolean
  /** Absent in events that tell only the number of the pull request. */
  head?: CodeHostSide | undefined
  base?: CodeHostSide | undefined
  isDraft?: boolean | undefined
}

/** What is kept of a delivery that leads to something. Titles, bodies and names are text of strangers. */
export type CodeHostEvent = {
  event: WorkedEvent
  action: string
  repository: CodeHostRepository
  sender: string
  /** The sender is a program. */
  isBot: boolean
  /** When the code host changed the target, RFC 3339. */
  happenedAt?: string | undefined
  target?: CodeHostTarget | undefined
  label?: string | undefined
  comment?: { id: number; body: string; url: string; author: string } | undefined
}
