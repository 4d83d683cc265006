// Reads the options that every command takes.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { localContext } from '../client/contexts.ts'
import { parseTokenExpiry } from '../contract/api/identity/tokens.ts'
import { SvcError } from '../errors.ts'
import { quoteWord } from '../lib/shell-words.ts'
import type { CliContext, GlobalOptions } from './context.ts'
import { readTemplate } from './output/json-path.ts'
import { type OutputFormat, outputFormats, pathPrefix } from './output/output.ts'

type RawOptions = Record<string, unknown> & { output: OutputFormat | 'wide' | 'csv' }

/** Commands whose answers can be had as comma-separated values. */
const csvCommands = ['usage']

const folderSettings = ['dataDir', 'configDir']
/** Options that select the service and the namespace; never a credential. */
const targetOptions = ['server', 'context', 'namespace', 'config', ...folderSettings]

export function addGlobalOptions(program: Command): void {
  program
    .option('--server <url>', 'address of the service (SVC_SERVER)')
    .option('--token <token>', 'credential (SVC_TOKEN)')
    .option('--context <name>', `service that \`config set\` has named (SVC_CONTEXT); ${localContext}: this machine's`)
    .option('-n, --namespace <name>', 'namespace to act in')
    .addOption(
      new Option(
        '-o, --output <format>',
        'how answers are printed: table, wide, json, yaml, name, jsonpath=TEMPLATE, csv (usage)',
      )
        .argParser(readOutput)
        .default('table'),
    )
    .option('--config <file>', 'YAML file of settings (SVC_CONFIG)')
    .option('--data-dir <dir>', 'data folder of the local service (SVC_DATA_DIR)')
    .option('--config-dir <dir>', 'folder of the token and key (SVC_CONFIG_DIR)')
}

/** The parts of this command line that select the service and the namespace, to repeat in suggested commands. */
export function listTargetFlags(program: Command): string[] {
  const used = program.options.filter((option) => {
    const name = option.attributeName()
    return targetOptions.includes(name) && program.getOptionValueSource(name) === 'cli'
  })
  return used.flatMap((option) => [
    option.short ?? option.long ?? '',
    quoteWord(String(program.getOptionValue(option.attributeName()))),
  ])
}

function readOutput(text: string): string {
  if (text.startsWith(pathPrefix)) {
    readTemplate(text.slice(pathPrefix.length))
    return text
  }
  if (text === 'csv' || outputFormats.some((format) => format === text)) return text
  throw new InvalidArgumentError(`Allowed choices are ${outputFormats.join(', ')}, ${pathPrefix}TEMPLATE.`)
}

/** Global options of the command that ran, wherever they were on the line. */
export function readGlobalOptions(command: Command, extraSettings: Record<string, unknown> = {}): GlobalOptions {
  const raw = command.optsWithGlobals<RawOptions>()
  const folders = folderSettings.filter((name) => raw[name] !== undefined).map((name) => [name, raw[name]])
  return {
    ...readFormat(command, raw),
    settings: { ...Object.fromEntries(folders), ...extraSettings },
    ...(raw.allNamespaces === true && { allNamespaces: true }),
    ...pick(raw, 'server'),
    ...pick(raw, 'token'),
    ...pick(raw, 'context'),
    ...pick(raw, 'namespace'),
    ...pick(raw, 'config'),
  }
}

function readFormat(command: Command, { output }: RawOptions): Pick<GlobalOptions, 'output' | 'wide' | 'csv'> {
  if (output === 'wide') return { output: 'table', wide: true }
  if (output !== 'csv') return { output }
  if (csvCommands.includes(command.name())) return { output: 'table', csv: true }
  throw new SvcError('InvalidRequest', `-o csv is for ${csvCommands.join(', ')} alone`)
}

function pick<K extends string>(raw: Record<string, unknown>, name: K): { [N in K]?: string } {
  return (typeof raw[name] === 'string' ? { [name]: raw[name] } : {}) as { [N in K]?: string }
}

/** Gives a command that lists the option to go over all namespaces. */
export function addAllNamespacesOption(command: Command): Command {
  return command.option('-A, --all-namespaces', 'in all namespaces that you may list')
}

/** Gives a command that lists the option to stay and show what changes. */
export function addWatchOption(command: Command): Command {
  return command.option('-w, --watch', 'stay, and print what changes as it does')
}

/** The namespaces that a list covers, for the query of its call. */
export function scopeQuery(options: GlobalOptions): { namespace?: string; allNamespaces?: true } {
  if (options.allNamespaces !== true) return namespaceQuery(options)
  if (options.namespace === undefined) return { allNamespaces: true }
  throw new SvcError('InvalidRequest', 'give --namespace or --all-namespaces, not both')
}

/** The namespace of the context in use, where the line names none. */
export function takeNamespace(program: Command, command: Command, context: Pick<CliContext, 'target'>): void {
  const options = readGlobalOptions(command)
  if (options.namespace !== undefined || options.allNamespaces === true) return
  const { namespace } = context.target(options)
  if (namespace !== undefined) program.setOptionValueWithSource('namespace', namespace, 'context')
}

/** `{namespace}` when one was given, for the query of a call. */
export function namespaceQuery(options: { namespace?: string | undefined }): { namespace?: string } {
  return options.namespace === undefined ? {} : { namespace: options.namespace }
}

/** Gathers an option that may be given several times, each with one value. */
export function gather(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value]
}

/** How many lines of a log; undefined: all. */
export function readTail(text: string): number | undefined {
  if (text === 'all') return undefined
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new SvcError('InvalidRequest', `--tail ${text}: must be a whole number, or all`)
}

/** A whole number of at least 1; InvalidRequest naming the flag otherwise. */
export function readCountFlag(flag: string, text: unknown): number {
  if (/^[1-9]\d{0,8}$/.test(String(text))) return Number(text)
  throw new SvcError('InvalidRequest', `${flag} ${text}: must be a whole number from 1 to 999999999`)
}

/** RFC 3339 of `7d`, `12h` (before now) or of a time; undefined stays so. InvalidRequest names the flag. */
export function readSince(flag: string, text: string | undefined, now: Date): string | undefined {
  if (text === undefined) return undefined
  const end = parseTokenExpiry(text, now)
  if (end === undefined) {
    throw new SvcError(
      'InvalidRequest',
      `${flag} ${text}: must be a duration (12h), days (7d) or a time (2026-12-31T00:00:00Z)`,
    )
  }
  const isTime = /^\d{4}-/.test(text)
  return (isTime ? end : new Date(2 * now.getTime() - end.getTime())).toISOString()
}
