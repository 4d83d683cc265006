// The code host (GitHub, and GitHub Enterprise), git, and the webhook of the code host.
import { z } from 'zod'
import { define, duration, names, quantity, retention, textValue, whole } from '../fields.ts'

const host = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/

const hosts = names
  .transform((items) => [...new Set(items.map((item) => item.toLowerCase()))])
  .pipe(z.array(z.string().regex(host, 'must be names of hosts such as github.com')).min(1, 'must name a host'))

/** Entries of `--codehost-api-url`: an address, or `host=address`. */
const apiUrls = names.transform((items, context) =>
  items.map((item) => {
    const [, name, address = ''] = /^(?:([^=/:]+(?::\d+)?)=)?(.*)$/.exec(item) ?? []
    const url = /^https?:\/\//.test(address) ? URL.parse(address) : null
    if (url === null || url.username !== '' || url.search !== '' || url.hash !== '') {
      context.addIssue(`${item} must be an address such as https://ghe.example.com/api/v3, or host=address`)
    }
    return { host: name?.toLowerCase(), url: address }
  }),
)

/** The code host: GitHub, and GitHub Enterprise. */
export const codehostSettings = {
  codehostHosts: define(hosts.default(['github.com']), {
    help: 'hosts of GitHub and GitHub Enterprise, whose repositories may be named',
    placeholder: 'host,...',
  }),
  codehostApiUrl: define(apiUrls.default([]), {
    help: 'base address of the interface of the first of these hosts, or host=address for any (default: the usual one, such as https://HOST/api/v3); may be private',
    example: 'https://ghe.example.com/api/v3',
    placeholder: 'url,...',
  }),
  prReviewMarkerSecret: define(textValue.optional(), {
    help: 'key that signs the markers of posted reviews (default: one made for this installation)',
    secret: true,
  }),
  prReviewMarkerPreviousSecrets: define(names.default([]), {
    help: 'earlier keys, whose markers still count',
    secret: true,
  }),
  prReviewMarkerTrustedAuthor: define(textValue.optional(), {
    help: 'whose markers of the old form count, which have no signature (default: the one whose token is used)',
    example: 'review-bot',
    placeholder: 'login',
  }),
} as const

/** Git takes no name without a letter or digit. */
const person = /^([^<>\p{Cc}]*[\p{L}\p{N}][^<>\p{Cc}]*) <([^<>\s\p{Cc}]+@[^<>\s\p{Cc}]+)>$/u

const maxAuthor = 500

/** `Ada <ada@example.com>`, as git writes it. */
const author = z
  .string('must be text')
  .max(maxAuthor, { abort: true })
  .transform((text, context) => {
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
  gitSigningKey: define(textValue.optional(), {
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

const name = z
  .string('must be a name')
  .regex(/^[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?$/, 'must be a name such as reviewer')

/** `implement=builder`: an action and a name. */
const actions = z
  .union([z.array(z.string()), z.string().transform((all) => all.split(','))], { error: 'must be action=name,...' })
  .transform((items, context) => {
    return items
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map((item) => {
        const [, action = '', agent = ''] = /^([^=\s]{1,64})=([a-z0-9][-a-z0-9]{0,252})$/.exec(item) ?? []
        if (action === '') context.addIssue({ code: 'custom', message: `${item} must be action=agent` })
        return { action, agent }
      })
  })

/** The webhook of the code host, and the tasks that labels create. */
export const webhookSettings = {
  codehostWebhookSecret: define(textValue.optional(), {
    help: 'secret with which the code host signs its deliveries; without any the webhook answers 503',
    secret: true,
  }),
  codehostWebhookPreviousSecrets: define(names.default([]), {
    help: 'earlier secrets, with which deliveries may still be signed',
    secret: true,
  }),
  codehostWebhookSecretName: define(name.optional(), {
    help: 'Secret in the namespace of label triggers whose entry secret counts too, and each line of its entry previous; a change needs no restart',
    example: 'codehost-webhook',
    placeholder: 'name',
  }),
  codehostLabelTriggerAgent: define(name.optional(), {
    help: 'agent of the tasks that labels create',
    example: 'builder',
    placeholder: 'name',
  }),
  codehostLabelAgent: define(actions.default([]), {
    help: 'agents of single actions; each may also stand in a variable of its own, SVC_CODEHOST_LABEL_AGENT_<ACTION>',
    example: 'review=reviewer,update-branch=builder',
    placeholder: 'action=name,...',
    keyed: true,
  }),
  codehostLabelTriggerNamespace: define(name.optional(), {
    help: 'namespace of these tasks, and in which deliveries are shown (default: the first of --watch-namespace, else default)',
    example: 'team-a',
    placeholder: 'name',
  }),
  codehostLabelTriggerGitSecret: define(name.optional(), {
    help: 'Secret with the login of the repositories; without it nothing is pushed and comments are not answered',
    example: 'codehost-token',
    placeholder: 'name',
  }),
  codehostLabelTriggerPrefix: define(textValue.max(50).default('agent:'), {
    help: 'beginning of labels that create tasks, in upper or lower case',
  }),
  codehostLabelTriggerTimeout: define(duration.default('30m'), {
    help: 'time limit of one attempt of these tasks',
    placeholder: 'duration',
  }),
  codehostLabelTriggerMaxTurns: define(whole(1, 1000).default(100), { help: 'turns of the agent program at most' }),
  deliveryRetention: define(retention.default('7d'), {
    help: 'how long deliveries of the webhook are kept',
    placeholder: 'duration',
  }),
} as const
