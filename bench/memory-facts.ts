// Short facts of the kind that a team writes down, and questions for them in other words; and prompts that none of them answers.
import type { Collection } from './memory-quality.ts'

const services = [
  ['billing', 'payments team'],
  ['catalogue', 'search team'],
  ['checkout', 'storefront team'],
  ['courier', 'logistics team'],
  ['identity', 'security team'],
  ['inventory', 'warehouse team'],
  ['ledger', 'finance team'],
  ['mailer', 'growth team'],
  ['media', 'content team'],
  ['metrics', 'platform team'],
  ['pricing', 'revenue team'],
  ['reviews', 'community team'],
] as const

const people = 'Ada Bruno Chen Dalia Emeka Farid Greta Hiro Ines Jonas Kavya Lucia'.split(' ')
const days = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split(' ')
const regions = 'Frankfurt Dublin Oregon Tokyo Sydney Mumbai'.split(' ')

/** A fact about the service at this place of the list, and a question that it answers; every word of the question may be another one. */
type Pair = (service: string, at: number, team: string) => [fact: string, question: string]

const pairs: readonly Pair[] = [
  (s, at) => [`The ${s} service listens on port ${8100 + at}.`, `Which port does ${s} use?`],
  (s, at) => [
    `${s} keeps its rows in a PostgreSQL ${12 + (at % 5)} database.`,
    `What database stores the data of ${s}?`,
  ],
  (s, at) => [`The staging copy of ${s} is wiped every ${days[at % 7]}.`, `When is ${s} reset on staging?`],
  (s, _at, team) => [`The ${team} owns ${s} and is paged for it.`, `Who is responsible for the ${s} service?`],
  (s, at) => [`${people[at]} wrote the first version of ${s}.`, `Who is the original author of ${s}?`],
  (s, at) => [`${s} runs in the ${regions[at % 6]} region only.`, `Where is ${s} deployed?`],
  (s, at) => [`Builds of ${s} take ${4 + at} minutes on the usual runner.`, `How long does it take to build ${s}?`],
  (s, at) => [`Requests to ${s} time out after ${2 + at} seconds.`, `What is the request timeout of ${s}?`],
  (s, at) => [
    `${s} was moved from Java to ${at % 2 ? 'Go' : 'Rust'} last spring.`,
    `In which language is ${s} written now?`,
  ],
  (s, at) => [`The nightly job of ${s} starts at 0${at % 6}:30 UTC.`, `At what time does the cron job of ${s} run?`],
  (s, at) => [
    `Never run two migrations of ${s} at once: version ${at}.4 lost rows that way.`,
    `Why must migrations of ${s} not run in parallel?`,
  ],
  (s, at) => [`${s} caches answers in Redis for ${10 + at} minutes.`, `How long are responses of ${s} cached?`],
  (s, at) => [`Logs of ${s} are kept for ${30 + at} days and then deleted.`, `What is the log retention of ${s}?`],
  (s) => [`The tests of ${s} need a running broker, else they hang.`, `Why do tests hang in ${s}?`],
  (s, at) => [
    `A release of ${s} is cut by tagging v${at + 1}.0.0 on the main branch.`,
    `How do I make a release of ${s}?`,
  ],
  (s, at) => [
    `The API key of ${s} lies in the vault under team/${s}/key-${at}.`,
    `Where can I find the credentials for ${s}?`,
  ],
  (s, at) => [
    `Customers see a blank page when ${s} answers with status ${500 + at}.`,
    `What happens to users when ${s} fails?`,
  ],
  (s, at) => [
    `${people[(at + 5) % 12]} must approve every change to the schema of ${s}.`,
    `Whose review is needed for schema changes in ${s}?`,
  ],
  (s) => [`${s} speaks gRPC inside the cluster and REST outside of it.`, `Which protocol does ${s} use internally?`],
  (s, at) => [
    `The memory limit of ${s} was raised to ${at + 2} GiB after it was killed.`,
    `How much RAM may ${s} use?`,
  ],
  (s) => [
    `Feature flags of ${s} are read once at the start, so it has to be restarted.`,
    `Do I need to restart ${s} after I change a flag?`,
  ],
  (s, at) => [`The dashboard of ${s} is called "${s} overview ${at}" in Grafana.`, `Where are the graphs for ${s}?`],
  (s, at) => [
    `${s} handles about ${100 * (at + 1)} requests each second at noon.`,
    `How much traffic does ${s} get at peak?`,
  ],
  (s) => [`Use pnpm, not npm, to install the packages of ${s}.`, `Which package manager belongs to ${s}?`],
  (s, at) => [
    `The certificate of ${s} is renewed by hand in the week of ${days[(at + 2) % 7]} the 1st.`,
    `When does the TLS certificate of ${s} expire?`,
  ],
  (s, at) => [
    `Events of ${s} go to the topic ${s}.events.v${1 + (at % 4)}.`,
    `To which Kafka topic does ${s} publish?`,
  ],
]

export function makeFacts(): Collection {
  const made = services.flatMap(([service, team], at) =>
    pairs.map((pair, kind) => ({ id: `${service}-${kind}`, pair: pair(service, at, team) })),
  )
  return {
    texts: made.map(({ id, pair: [text] }) => ({ id, text })),
    judged: made.map(({ id, pair: [, question] }) => ({ question, gains: new Map([[id, 1]]) })),
  }
}

/** What has nothing to do with any of the collections. */
export const unrelatedPrompts = [
  'What is 17 * 23?',
  'Write a haiku about the sea.',
  'Translate "good morning" into French.',
  'Sort these numbers: 5, 3, 9, 1',
  'Explain the difference between TCP and UDP in two sentences.',
  'Add a unit test for the function that parses dates in src/util/date.ts.',
  'Refactor the login form so that the button is disabled while it is submitting.',
  'Summarise this repository in five bullet points, and list the commands that a newcomer needs first.',
  'Why does the container exit with code 137?',
  'List all prime numbers below 100.',
  'Convert this CSV to Markdown.',
  'Update the dependencies and make the build green again.',
  'What is the capital of Mongolia?',
  'Write a regular expression that matches IPv6 addresses.',
  'Rename the variable tmp to buffer in src/server.c and fix the callers.',
  'Explain recursion to a ten-year-old.',
  'Write a shell script that deletes files older than thirty days.',
  'Find out why the pipeline fails on Windows and open a pull request with the fix.',
  'How do I undo the last commit in git?',
  'Generate a password of twenty characters.',
  'Which licence does this project have?',
  'Review the changes of this branch for security problems.',
  'Port the module utils/strings.py to TypeScript, with tests.',
  'Draw an ASCII picture of a cat.',
  'Make the API return 404 instead of 500 when a user does not exist.',
  'Compute the standard deviation of 4, 8, 15, 16, 23 and 42.',
  'Bump the version to 3.1.0 and write the changelog.',
  'Create a Dockerfile with two stages for the Go service.',
  'Replace moment.js with date-fns in the whole code base.',
  'What does the HTTP status 418 mean?',
  'Write documentation for the public functions of the package.',
  'Reproduce the crash that happens when the input is empty.',
]

/** The same question as people ask agents: among instructions. */
export function wrapPrompt(question: string): string {
  return `You are an assistant of the team. Answer as precisely as you can, and say where you found it. Read the files in the working
folder first if there are any, run what is needed, and write the result to report.md. Keep it short: two paragraphs at most, no tables.

${question}

If something is missing, say what it is instead of guessing.`
}
