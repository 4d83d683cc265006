// monitor: what can be said of one in options; anything more is for `svc apply`.
import { commandHint } from '../../../client/command-hint.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { readCountFlag } from '../../global-options.ts'
import { readEach, readOne, type SpecOption } from '../../objects/spec-options.ts'
import type { SpecCommands } from '../resources/spec-commands.ts'

const publishing = {
  off: { enabled: false },
  summary: { enabled: true, mode: 'summary_only' },
  inline: { enabled: true, mode: 'summary_with_inline_findings', inline: { enabled: true } },
} as const
const publishWords = Object.keys(publishing) as (keyof typeof publishing)[]

/** What else was said of publishing stays. */
function publishAs(word: keyof typeof publishing, before: unknown): object {
  const { inline, ...wanted }: { enabled: boolean; inline?: object } = publishing[word]
  const current = isJsonObject(before) ? before : {}
  const currentInline = isJsonObject(current.inline) ? current.inline : {}
  return { ...current, ...wanted, ...(inline && { inline: { ...currentInline, ...inline } }) }
}

function switchAt(flag: string, path: string, description: string): SpecOption {
  const read = readOne((text) => text === 'on')
  return { flags: `${flag} <on|off>`, description, path, choices: ['on', 'off'], read }
}

export const monitorCommands: SpecCommands = {
  description: 'let an agent review the pull requests of a repository',
  options: [
    { flags: '--repo <url>', description: 'address of the repository', path: 'repoURL', isRequired: true },
    {
      flags: '--reviewer <agent>',
      description:
        'agent that reviews; its runtime is llma-cli (Claude Code), and its Secret has the key of the vendor',
      path: 'agents.reviewer',
      names: 'agent',
      isRequired: true,
      read: readOne((name) => ({ name })),
    },
    {
      flags: '--secret <name>',
      description: 'Secret with the login of the code host; without it nothing is posted',
      path: 'gitSecretRef',
      names: 'secret',
      read: readOne((name) => ({ name })),
    },
    {
      flags: '--branch <name>',
      description: 'branch that pull requests are made against (default: the one of the repository)',
      path: 'branch',
    },
    { flags: '--schedule <cron>', description: 'when it looks, such as "*/15 * * * *"', path: 'schedule' },
    { flags: '--time-zone <zone>', description: 'time zone of the schedule (default: UTC)', path: 'timeZone' },
    switchAt('--events', 'review.exactEventEnabled', 'whether events of the code host start a review at once'),
    {
      flags: '--publish <how>',
      description: 'what is posted at the code host: nothing, a summary, or comments at lines as well',
      path: 'review.publish',
      choices: publishWords,
      read: (value, { before }) => publishAs(String(value) as keyof typeof publishing, before),
    },
    switchAt('--post-passed', 'review.publish.postPassed', 'whether reviews that found nothing are posted'),
    switchAt('--drafts', 'targets.pullRequests.includeDrafts', 'whether drafts are reviewed'),
    {
      flags: '--max-per-run <count>',
      description: 'pull requests that one run has reviewed at most (default: 20)',
      path: 'targets.pullRequests.maxPerRun',
      read: readOne((text) => readCountFlag('--max-per-run', text)),
    },
    {
      flags: '--pause-label <label>',
      description: 'label whose pull requests are left alone',
      path: 'policy.pauseLabels',
      isRepeated: true,
      read: readEach((text) => text),
    },
    {
      flags: '--check <command>',
      description: 'shell command that is run on the commit, without network, and whose outcome is part of the review',
      path: 'validation.commands',
      isRepeated: true,
      read: readEach((text) => text),
    },
    {
      flags: '--check-timeout <duration>',
      description: 'time limit of all checks together (default: 15m)',
      path: 'validation.timeout',
    },
    switchAt('--suspend', 'suspend', 'whether it starts no runs by itself'),
  ],
  hint: (name) => `look now: ${commandHint(`monitor run ${name}`)}`,
}
