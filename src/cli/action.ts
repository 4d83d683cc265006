// The actions of commands that ask the service.
import type { Command } from 'commander'
import type { Client } from '../client/client.ts'
import type { CliCall, CliContext } from './context.ts'
import { doEachName } from './failure.ts'
import { namespaceQuery, readGlobalOptions } from './global-options.ts'

/** What an action works with; `query` has the namespace that was named. */
export type ServiceCall = CliCall & { client: Client; query: { namespace?: string } }

type Action = (...line: unknown[]) => Promise<void>

export async function openCall(command: Command, context: CliContext): Promise<ServiceCall> {
  const options = readGlobalOptions(command)
  return { client: await context.connect(options), options, context, query: namespaceQuery(options) }
}

/** Does not connect; `act` gets the arguments of the line, then its options. */
export function withCall<Line extends unknown[]>(
  context: CliContext,
  act: (call: CliCall, ...line: Line) => Promise<void> | void,
): Action {
  return async (...line) => {
    const options = readGlobalOptions(line.at(-1) as Command)
    await act({ options, context }, ...(line.slice(0, -1) as Line))
  }
}

/** Connects to the service; `act` gets the arguments of the line, then its options. */
export function callService<Line extends unknown[]>(
  context: CliContext,
  act: (call: ServiceCall, ...line: Line) => Promise<void>,
): Action {
  return async (...line) => {
    const command = line.at(-1) as Command
    await act(await openCall(command, context), ...(line.slice(0, -1) as Line))
  }
}

/** The same for each of several names; `act` gives the line that is printed about it. */
export function callForEach<Flags>(
  context: CliContext,
  act: (call: ServiceCall, name: string, flags: Flags) => Promise<string>,
): Action {
  return callService(context, (call, names: string[], flags: Flags) =>
    doEachName(names, context.terminal, async (name) => context.terminal.note(await act(call, name, flags))),
  )
}
