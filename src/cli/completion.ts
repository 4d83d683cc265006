// What may come next on a command line: commands, options, their values, and names from the service.
import type { Command, Option } from 'commander'
import type { CliContext, GlobalOptions } from './context.ts'
import { outputFormats } from './output/output.ts'

/** Candidates for the last word, which may be empty; none where a file is expected. */
export async function completeLine(words: string[], program: Command, context: CliContext): Promise<string[]> {
  const joined = joinAssignments(words)
  const last = joined.at(-1) ?? ''
  const line = readLine(joined.slice(0, -1), program)
  const candidates = await findCompletions(line, last, context)
  return candidates.filter((candidate) => candidate.startsWith(last))
}

/** bash breaks `--output=json` into three words. */
function joinAssignments(words: string[]): string[] {
  return words.flatMap((word, index) => {
    if (word === '=') return index === words.length - 1 ? [''] : []
    const [option, value] = word.startsWith('--') ? splitAtEquals(word) : [word, undefined]
    return value === undefined ? [option] : [option, value]
  })
}

function splitAtEquals(word: string): [string, string | undefined] {
  const at = word.indexOf('=')
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

type Line = {
  command: Command
  /** Arguments of the command so far. */
  args: string[]
  /** The option whose value comes next. */
  open: Option | undefined
  /** Values of options, by long name. */
  values: Record<string, string>
}

function readLine(words: string[], program: Command): Line {
  const line: Line = { command: program, args: [], open: undefined, values: {} }
  for (const word of words) {
    if (line.open) {
      line.values[line.open.attributeName()] = word
      line.open = undefined
    } else if (word.startsWith('-'))
      line.open = listOptions(line.command).find((o) => o.required && (o.short === word || o.long === word))
    else takeWord(line, word)
  }
  return line
}

function takeWord(line: Line, word: string): void {
  const child = line.args.length > 0 ? undefined : findChild(line.command, word)
  if (child) line.command = child
  else line.args.push(word)
}

function findChild(command: Command, word: string): Command | undefined {
  return command.commands.find((child) => child.name() === word || child.aliases().includes(word))
}

/** The command's own and those of every command above it. */
function listOptions(command: Command): Option[] {
  return [...command.options, ...(command.parent ? listOptions(command.parent) : [])]
}

async function findCompletions(line: Line, last: string, context: CliContext): Promise<string[]> {
  if (line.open) return completeValue(line, line.open, context)
  if (last.startsWith('-')) return [...listOptions(line.command), { long: '--help' }].flatMap((o) => o.long ?? [])
  if (line.command.commands.length > 0)
    return line.args.length > 0 ? [] : line.command.commands.map((child) => child.name())
  return completeArgument(line, last, context)
}

const valuesOf: Record<string, readonly string[]> = {
  output: outputFormats,
  phase: ['Pending', 'Running', 'Succeeded', 'Failed', 'Scheduled', 'Cancelled'],
}

const kindOf: Record<string, string> = {
  agent: 'agent',
  reviewer: 'agent',
  forAgent: 'agent',
  task: 'task',
  scan: 'scan',
  gitSecret: 'secret',
  webhookSecret: 'secret',
  provider: 'provider',
  session: 'session',
  secret: 'secret',
  tool: 'tool',
  skill: 'skill',
}

function completeValue(line: Line, option: Option, context: CliContext): Promise<string[]> | string[] {
  const name = option.attributeName()
  const known = option.argChoices ?? valuesOf[name]
  if (known) return [...known]
  const kind = kindOf[name]
  return kind === undefined ? [] : listNames(kind, line, context)
}

/** Of commands whose one argument is not a name that the service knows. */
const ownArguments: Record<string, (last: string) => Promise<string[]>> = {
  completion: async () => ['bash', 'zsh', 'fish'],
  explain: async (last) => (await import('./commands/resources/explain.ts')).listPaths(last),
}

async function completeArgument(line: Line, last: string, context: CliContext): Promise<string[]> {
  const { command, args } = line
  const group = command.parent?.name() ?? ''
  const complete = ownArguments[command.name()]
  if (complete) return args.length > 0 ? [] : complete(last)
  if (group === 'svc') return completeKind(line, context)
  const [first] = command.registeredArguments
  const isOpen = args.length === 0 || first?.variadic === true
  const takesName = /^names?$/.test(first?.name() ?? '') && command.name() !== 'create'
  return takesName && isOpen ? listNames(group, line, context) : []
}

/** For `svc get` and `svc delete`. */
async function completeKind(line: Line, context: CliContext): Promise<string[]> {
  if (line.command.registeredArguments[0]?.name() !== 'kind') return []
  const [kind] = line.args
  return kind === undefined ? listKinds() : listNames(kind, line, context)
}

async function listKinds(): Promise<string[]> {
  const { kindEntries } = await import('./objects/kinds.ts')
  return kindEntries.flatMap(({ words: [one] }) => one)
}

/** Names of the kind that are there now; none when no service runs. */
async function listNames(kind: string, { values }: Pick<Line, 'values'>, context: CliContext): Promise<string[]> {
  const { listKnownNames } = await import('./objects/known-names.ts')
  const { output: _output, server, token, context: named, namespace, config, ...settings } = values
  const target = Object.entries({ server, token, context: named, namespace, config }).filter(
    ([, value]) => value !== undefined,
  )
  const options: GlobalOptions = { output: 'json', settings: pickFolders(settings), ...Object.fromEntries(target) }
  return listKnownNames(kind, options, context)
}

function pickFolders({ dataDir, configDir }: Record<string, string>): Record<string, string> {
  return { ...(dataDir === undefined ? {} : { dataDir }), ...(configDir === undefined ? {} : { configDir }) }
}
