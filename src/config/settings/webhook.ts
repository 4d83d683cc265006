// The webhook of the code host, and the tasks that labels create.
import { z } from 'zod'
import { define, duration, names, retention, text, whole } from '../fields.ts'

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
  codehostWebhookSecret: define(text.optional(), {
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
  codehostLabelTriggerPrefix: define(text.max(50).default('agent:'), {
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
