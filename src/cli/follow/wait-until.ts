// `--wait`: stays until what was started has ended. Ctrl-C leaves it going on.
import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { SvcError } from '../../errors.ts'
import type { CliCall, CliContext } from '../context.ts'
import { ExitSignal, exitCodes } from '../failure.ts'
import { printAnswer } from '../output/answers.ts'

const everyMs = 1000

/** Gives a command that starts something the option to stay until that has ended. */
export function addWaitOption(command: Command): Command {
  return command.option('--wait', 'stay until it has ended; the exit code shows how')
}

type Waiting<T> = {
  /** Undefined while there is nothing to be seen of it. */
  read(): Promise<T | undefined>
  hasEnded(seen: T): boolean
  /** One line. */
  describe(seen: T | undefined): string
}

/** What it is in the end. */
export async function waitUntil<T>({ read, hasEnded, describe }: Waiting<T>, context: CliContext): Promise<T> {
  const spinner = context.terminal.spin(describe(undefined))
  const ended = await context
    .interruptible(async (signal) => {
      for (;;) {
        const seen = await read()
        if (seen !== undefined && hasEnded(seen)) return { seen }
        spinner.update(describe(seen))
        await pause(everyMs, undefined, { signal })
      }
    })
    .finally(() => spinner.stop())
  if (ended !== undefined) return ended.seen
  context.terminal.note('it goes on')
  throw new ExitSignal(exitCodes.interrupted)
}

/** Answers with what it is in the end, also where that is a failure: `failure` says so to people, and by the exit code. */
export async function answerEnded(
  { options, context }: CliCall,
  ended: unknown,
  { text, failure }: { text: string; failure: string | undefined },
): Promise<void> {
  if (failure === undefined || options.output !== 'table') await printAnswer(context, options, ended, () => text)
  if (failure !== undefined) throw new SvcError('UpstreamFailed', failure)
}
