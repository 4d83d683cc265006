// Patterns that no proof covers, each with what bounds its time all the same.
import { nameOf } from './patterns.ts'

const author = 'a setting of the owner, of at most 500 characters'
const duration = 'follows the look at the length (100) and at the form'
const typed = 'what a person types on the command line of his own machine'
const tooLarge =
  'too large for a proof; read by hand: two runs of blanks never meet, and the campaign of long texts is at it'
const endsAlways = 'finds an end from each of its beginnings, at the latest that of the text, and goes on behind it'

const known: [RegExp, string][] = [
  [
    /\b((?:proxy-)?authorization\\*["']?\s*[:=]\s*(?:(?:\\+["']?|["'])\s*)?(?:(?:bearer|basic|token|digest)\s*)?)[^\s"',;\\]{6,}/gi,
    tooLarge,
  ],
  [
    /(?<prefix>\b(?:proxy-)?authorization\\*["']?\s*[:=])\s*(?:(?:\\+["']?|["'])\s*)?(?:(?:bearer|basic|token|digest)\s*)?(?<value>[^\s"',;\\]*)/gi,
    tooLarge,
  ],
  [
    /((?:password|passwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token)\\*["']?\s*[:=]\s*)(?:(\\*["'])(?:(?!\2)[^\n]){4,}?(?=\2)|(?![{[(])[^\s"',;&]{4,})/gi,
    tooLarge,
  ],
  [
    /(?<prefix>(?:password|passwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token)\\*["']?\s*[:=])\s*(?<value>(?:(?<quote>\\*["'])(?:(?!\k<quote>)[^\n])*|(?![{[(])[^\s"',;&]*))/gi,
    tooLarge,
  ],
  [/^([^<>\p{Cc}]*[\p{L}\p{N}][^<>\p{Cc}]*) <([^<>\s\p{Cc}]+@[^<>\s\p{Cc}]+)>$/u, author],
  [/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g, duration],
  [/\.?0+$/, 'is given what Number.toFixed made, of at most 32 characters'],
  [/([^,/]+)\/(\d+)(?=,|$)/g, 'is given one field of a schedule, of at most 256 characters'],
  [/\{("([^"\\]|\\.)*"|[^{}"])*\}|[^{}]+|[{}]/g, typed],
  [
    // biome-ignore lint/suspicious/noControlCharactersInRegex: as it stands in the source
    /^(?![-/.])(?!.*(\.\.|\/\/|\/\.|@\{|\.lock(\/|$)|[/.]$))[^\x00-\x20\x7f~^:?*[\\]+$/,
    'follows the look at the length (255)',
  ],
  [
    /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n$/,
    'is given files of at most 1024 bytes',
  ],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, endsAlways],
  [
    /(?<!KEY-{0,4})(?:-----BEGIN [A-Z ]*(?:-{1,5}$)?|-----(?:B(?:E(?:G(?:I(?:N)?)?)?)?$)|-{1,5}$)/g,
    'looks at 5 characters from each place, and at letters behind a whole BEGIN only',
  ],
  [/<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i, 'is given the first 1024 bytes of a page'],
]

/** By pattern, as the list of proofs names them. */
export const exceptions: Record<string, string> = Object.fromEntries(
  known.map(([pattern, bound]) => [nameOf(pattern), bound]),
)

/** Files that build patterns while they are loaded: these are proved like literals. */
export const builders: readonly string[] = [
  'src/observability/redaction.ts',
  'dashboard/src/parts/ansi.ts',
  'dashboard/src/parts/visible-text.ts',
  'src/llm/demo/instructions.ts',
]

/** Files that build patterns while they work, with what bounds these. */
export const workers: Record<string, string> = {
  'dashboard/src/views/task/log-lines.ts': 'a literal text, with its special characters escaped',
  'src/contract/api/resources/list.ts': 'words of the contract, in a list that separators part',
  'src/contract/schema/output-schema.ts':
    'of a user, only compiled to see that it can be; it judges in the worker of the task',
  'src/http/known-paths.ts': 'paths of the route table, whose parts end at the next slash',
  'src/rules/monitors/checks.ts': 'a word of the service and numbers, anchored',
  'src/rules/scans/test-rounds.ts': 'a word of the service and numbers, on the last line of an answer',
  'src/runtime/local/sandbox/sandbox.ts': 'a word of the service and digits, anchored',
  'src/usecases/chat/turn-preparation.ts':
    'words of the service, at most two words apart: each beginning looks at three words and the blanks between them',
  'src/cli/output/printable.ts': 'a random word of the process and digits',
  'src/terminal/keyboard-input.ts': 'control sequences of the own keyboard',
}
