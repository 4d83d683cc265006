// Reads the options that every command takes.
import type { Command } from 'commander'
import type { CliContext, GlobalOptions } from './context.ts'
import { formatData, type OutputFormat } from './output.ts'

type RawOptions = Record<string, unknown> & { output: OutputFormat }

const folderSettings = ['dataDir', 'configDir']

/** Global options of the command that ran, wherever on the line they stood. */
export function readGlobalOptions(command: Command, extraSettings: Record<string, unknown> = {}): GlobalOptions {
  const raw = command.optsWithGlobals<RawOptions>()
  const folders = folderSettings.filter((name) => raw[name] !== undefined).map((name) => [name, raw[name]])
  return {
    output: raw.output,
    settings: { ...Object.fromEntries(folders), ...extraSettings },
    ...pick(raw, 'server'),
    ...pick(raw, 'token'),
    ...pick(raw, 'namespace'),
    ...pick(raw, 'config'),
  }
}

function pick<K extends string>(raw: Record<string, unknown>, name: K): { [N in K]?: string } {
  return (typeof raw[name] === 'string' ? { [name]: raw[name] } : {}) as { [N in K]?: string }
}

/** `{namespace}` when one was named, for the query of a call. */
export function namespaceOf(options: GlobalOptions): { namespace?: string } {
  return options.namespace === undefined ? {} : { namespace: options.namespace }
}

/** Prints `value` as asked for; `human` makes the table or text. */
export function printAnswer(context: CliContext, options: GlobalOptions, value: unknown, human: () => string): void {
  context.terminal.print(formatData(options.output, value) ?? human())
}
