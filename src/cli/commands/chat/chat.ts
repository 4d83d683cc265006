// chat: talk with the orchestrator, in a conversation at the terminal or with one message from a script.
import { type Command, Option } from 'commander'
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import { type ChatRequest, getChatConfig, sendChat } from '../../../contract/api/chat/chat.ts'
import { SvcError } from '../../../errors.ts'
import { dropUndefined } from '../../../lib/json.ts'
import { withCall } from '../../action.ts'
import { converse, reportEnd } from '../../chat/conversation.ts'
import { sendChatMessage } from '../../chat/screen.ts'
import { describeSession, findSession, type Opening, pickSession, requireSession } from '../../chat/talk.ts'
import type { CliCall, CliContext, GlobalOptions } from '../../context.ts'
import { ExitSignal, exitCodes } from '../../failure.ts'
import { namespaceQuery } from '../../global-options.ts'
import { chooseModel } from '../../objects/model-choice.ts'
import { noteNewSession, requireNamed } from '../../objects/references.ts'
import { printAnswer } from '../../output/answers.ts'

type ChatOptions = {
  session?: string
  /** True where no session is named. */
  resume?: string | true
  agent?: string
  provider?: string
  model?: string
  system?: string
  quiet?: boolean
}

export function addChatCommand(program: Command, context: CliContext): void {
  program
    .command('chat [message...]')
    .description('talk with the orchestrator, which creates and follows tasks; starts a service when none runs')
    .option('--session <id>', 'session to continue; created when missing')
    .addOption(
      new Option('--resume [id]', 'session to continue, chosen from the latest when none is named').conflicts(
        'session',
      ),
    )
    .option('--agent <name>', 'agent that supplies provider, model and temperature')
    .option('--provider <name>', 'provider to ask (default: that of the session, `default`, or the only usable one)')
    .option('--model <name>', 'model of the provider')
    .option('--system <text>', 'added to the built-in prompt')
    .option('-q, --quiet', 'only the answer, without tool calls')
    .addHelpText(
      'after',
      `
Without a message a conversation begins; /help shows what can be typed in it.
In a pipe the message comes from standard input: \`echo "what runs?" | ${commandHint('chat')}\`.
With --output json the whole turn is one JSON body: sessionId, message, toolCalls, usage.
Ctrl-C ends the turn that runs; pressed twice it leaves.

Exit codes: 0 answered, 1 failed, 2 wrong usage, 3 no service reached, 4 cancelled.`,
    )
    .action(withCall(context, chat))
}

async function chat(call: CliCall, words: string[], flags: ChatOptions): Promise<void> {
  const { options, context } = call
  const message = words.length > 0 ? words.join(' ') : await context.readInput()
  if (message === undefined) return startConversation(flags, call)
  if (message.trim() === '')
    throw new SvcError('InvalidRequest', `give a message: ${commandHint('chat "what runs right now?"')}`)
  const client = await context.connect(options, { quiet: flags.quiet })
  const body = { ...(await prepareRequest(client, flags, call)), message: message.trimEnd() }
  if (options.output !== 'table') return printTurn(client, body, call)
  const { quiet } = flags
  const end = await sendChatMessage(client, body, { context, quiet })
  reportEnd(end, { context, quiet })
  const talk = { sessionId: end.sessionId, request: body }
  if (!quiet) context.terminal.note(context.terminal.colors.dim(describeSession(talk)))
  if (end.outcome !== 'answered') throw new ExitSignal(exitCodes[end.outcome])
}

async function startConversation(flags: ChatOptions, { options, context }: CliCall): Promise<void> {
  const { openPrompt } = context
  if (openPrompt === undefined)
    throw new SvcError('InvalidRequest', `name a message: ${commandHint('chat "what runs right now?"')}`)
  const client = await context.connect(options, { quiet: flags.quiet })
  const request = await prepareRequest(client, flags, { options, context })
  const prompt = openPrompt()
  const conversation = { client, context, prompt, request, quiet: flags.quiet }
  const talk = await converse(conversation).finally(() => prompt.close())
  if (talk.sessionId !== undefined) context.terminal.note(describeSession(talk))
}

async function prepareRequest(client: Client, flags: ChatOptions, call: CliCall): Promise<Opening> {
  const { context, options } = call
  const request = buildRequest(flags, options)
  const reading = { client, options, context }
  if (flags.agent !== undefined) await requireNamed('agent', flags.agent, reading)
  if (flags.provider !== undefined) await requireNamed('provider', flags.provider, reading)
  if (flags.session !== undefined) await noteNewSession(client, flags.session, call)
  if (flags.resume === undefined) return chooseProvider(client, request, call)
  const resumed =
    flags.resume === true ? await pickSession(client, request, context) : await requireSession(client, request)
  const { namespace } = resumed
  return chooseProvider(client, resumed, { context, options: { ...options, ...(namespace && { namespace }) } })
}

/** What the request names or the session remembers; otherwise as in `svc run`: the service's default, or demo. */
async function chooseProvider(client: Client, request: Opening, call: CliCall): Promise<Opening> {
  const { agentRef, provider, model } = request
  if (agentRef !== undefined || provider !== undefined || (await remembersModel(client, request))) return request
  const own = await client.call(getChatConfig, {})
  if (own.model !== '') return request
  const choice = await chooseModel(client, { model, preferred: own.provider === '' ? [] : [own.provider] }, call)
  return { ...request, ...dropUndefined(choice) }
}

/** A conversation continues with what answered the session's last turn. */
async function remembersModel(client: Client, request: Opening): Promise<boolean> {
  return (await findSession(client, request, 1))?.answeredBy !== undefined
}

/** One JSON body; Ctrl-C ends the turn. */
async function printTurn(client: Client, body: ChatRequest, { options, context }: CliCall): Promise<void> {
  const headers = { accept: 'application/json' }
  const answer = await context.interruptible((signal) => client.call(sendChat, { body, headers, signal }))
  if (answer === undefined) throw new ExitSignal(exitCodes.cancelled)
  await printAnswer(context, options, answer, () => answer.message)
}

function buildRequest(flags: ChatOptions, options: GlobalOptions): Opening {
  const fields = {
    sessionId: flags.session ?? (flags.resume === true ? undefined : flags.resume),
    agentRef: flags.agent,
    provider: flags.provider,
    model: flags.model,
    systemPrompt: flags.system,
    ...namespaceQuery(options),
  }
  return dropUndefined(fields)
}
