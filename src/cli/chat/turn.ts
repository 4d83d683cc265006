// Sends one message and shows the answer; Ctrl-C ends the turn.
import type { Client } from '../../client/client.ts'
import { parseBody } from '../../client/event-stream.ts'
import { type ChatFrame, type ChatRequest, type ChatUsage, sendChat } from '../../contract/api/chat/chat.ts'
import { SvcError } from '../../errors.ts'
import type { CliContext } from '../context.ts'
import { createScreen, type Screen } from './screen.ts'

export type TurnEnd = {
  sessionId: string | undefined
  /** `cancelled`: by Ctrl-C. */
  outcome: 'answered' | 'failed' | 'cancelled'
  error?: { code: string; message: string }
  /** Name of the provider that was asked first, and its model. */
  answering?: { provider: string | undefined; model: string | undefined }
  /** Absent: the turn did not complete. */
  usage?: ChatUsage
}

type Sending = { context: CliContext; quiet?: boolean | undefined }

/** Throws the errors that the service reports before the turn starts. */
export async function sendMessage(client: Client, body: ChatRequest, { context, quiet }: Sending): Promise<TurnEnd> {
  const screen = createScreen(context, { quiet })
  const end: TurnEnd = { sessionId: body.sessionId, outcome: 'cancelled' }
  try {
    await context.interruptible(async (signal) => {
      const headers = { accept: 'text/event-stream' }
      const response = await client.open(sendChat, { body, headers, signal })
      for await (const { event = '', data } of parseBody(response)) note(end, screen, event, JSON.parse(data))
      if (end.outcome === 'cancelled') throw brokenOff(end.sessionId)
    })
  } finally {
    screen.close()
  }
  return end
}

function note(end: TurnEnd, screen: Screen, event: string, frame: ChatFrame): void {
  end.sessionId = frame.sessionId
  if (frame.error !== undefined) end.error = frame.error
  if (frame.usage !== undefined) end.usage = frame.usage
  if (event === 'status') end.answering = { provider: frame.provider, model: frame.model }
  if (event === 'done') end.outcome = end.error === undefined ? 'answered' : 'failed'
  screen.show(event, frame)
}

function brokenOff(sessionId: string | undefined): SvcError {
  const where = sessionId === undefined ? '' : `; session ${sessionId} has what was completed`
  return new SvcError('Unavailable', `the connection to the service was lost before the turn ended${where}`)
}
