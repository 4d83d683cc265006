// Sessions, newest first, their transcripts, and search in those.
import * as routes from '../../../contract/api/chat/sessions.ts'
import { searchTranscripts } from '../../../contract/api/chat/transcripts.ts'
import type { Session, StoredMessage } from '../../../ports/chat/sessions.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { namedNamespace, wrapPage } from '../../paging.ts'
import { answerTrace } from '../tasks/trace-answer.ts'

function presentSession(session: Session): routes.SessionItem {
  return { id: session.name, ...session }
}

/** One message as a line of JSON, without its position in the store. */
export function presentMessageLine({ id: _id, ...message }: StoredMessage): string {
  return JSON.stringify(message)
}

export function bindSessions(bind: Bind, { usecases }: RouteContext): void {
  bind(routes.listSessions, async ({ caller, namespace, query }) => {
    const page = await usecases.sessions.list(caller, { ...query, namespace: namedNamespace({ namespace }) })
    return { json: wrapPage(page, presentSession) }
  })
  bind(routes.getSession, async ({ caller, key, query }) => {
    const { session, messages } = await usecases.sessions.get(caller, key, query.maxMessages)
    return { json: { ...presentSession(session), transcript: messages.map(presentMessageLine).join('\n') } }
  })
  bind(routes.updateSession, async ({ caller, key, body }) => {
    const session = await usecases.sessions.rename(caller, key, body.title)
    return { json: presentSession(session) }
  })
  bind(routes.getSessionTrace, ({ caller, key, query, headers }) => {
    return answerTrace(
      { query, headers },
      {
        list: (choice) => usecases.sessions.trace(caller, key, choice),
        follow: (choice) => usecases.sessions.followTrace(caller, key, choice),
      },
    )
  })
  bind.empty(routes.deleteSession, ({ caller, key }) => usecases.sessions.remove(caller, key))
}

export function bindTranscripts(bind: Bind, { usecases }: RouteContext): void {
  bind(searchTranscripts, async ({ caller, namespace, query }) => {
    const { allNamespaces: _all, ...search } = query
    const items = await usecases.transcripts.search(caller, { ...search, namespace: namedNamespace({ namespace }) })
    return { json: { items, metadata: {} } }
  })
}
