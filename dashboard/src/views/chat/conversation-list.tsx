// The conversations there are, newest first: opened, renamed and deleted here.
import { Link, useSearchParams } from 'react-router'
import { cancelChat } from '../../../../src/contract/api/chat/chat.ts'
import { listSessions, type SessionItem } from '../../../../src/contract/api/chat/sessions.ts'
import { useRecordPages } from '../../data/records.ts'
import { AskedChange } from '../../parts/asked-button.tsx'
import { Button } from '../../parts/button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { useParameters, useScope } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { say } from '../../parts/toasts.tsx'
import { Renaming } from './renaming.tsx'
import { forgetTurns, type SessionPlace } from './turns.ts'

type ListProps = { chosen: SessionPlace | undefined; onChosen: () => void }

export function ConversationList({ chosen, onChosen }: ListProps) {
  const query = { ...useScope().query, sessionType: 'chat' } as const
  const sessions = useRecordPages('Session', listSessions, { query })
  const chats = sessions.items
  return (
    <>
      {sessions.error !== null && <Failure error={sessions.error} retry={sessions.reload} />}
      {sessions.isLoading && <Loading what="conversations" />}
      {!sessions.isLoading && chats.length === 0 && (
        <p className="soft">What you say here is kept as a conversation.</p>
      )}
      <ul>
        {chats.map((session) => {
          const isChosen = session.name === chosen?.name && session.namespace === chosen.namespace
          return (
            <li key={`${session.namespace}/${session.name}`} className="conversation" data-chosen={isChosen}>
              <ConversationLink session={session} isChosen={isChosen} onChosen={onChosen} />
              {isChosen && <Renaming session={session} />}
              {isChosen && <Deletion session={session} />}
            </li>
          )
        })}
      </ul>
      {sessions.hasMore && (
        <Button busy={sessions.isLoadingMore} onClick={sessions.loadMore}>
          Older
        </Button>
      )}
    </>
  )
}

type LinkProps = { session: SessionItem; isChosen: boolean; onChosen: () => void }

function ConversationLink({ session, isChosen, onChosen }: LinkProps) {
  const [parameters] = useSearchParams()
  const next = new URLSearchParams(parameters)
  next.set('session', `${session.namespace}/${session.name}`)
  return (
    <Link to={`?${next}`} aria-current={isChosen ? 'page' : undefined} onClick={onChosen}>
      <span className="cut">
        <Foreign text={session.title ?? session.name} />
      </span>
      <span className="soft when">
        <Ago at={session.updatedAt} /> · {session.messageCount} {session.messageCount === 1 ? 'message' : 'messages'}
        {session.activeTask !== undefined && ' · answering'}
      </span>
    </Link>
  )
}

function Deletion({ session: { namespace, name, title } }: { session: SessionItem }) {
  const [, change] = useParameters()
  function onDone(): void {
    forgetTurns({ namespace, name })
    change({ session: undefined })
    say('The conversation is deleted')
  }
  return (
    <AskedChange
      to={cancelChat}
      input={{ params: { sessionId: name }, query: { namespace } }}
      sort="Session"
      word="Delete"
      look="plain"
      title={`Delete “${title ?? name}”?`}
      action="Delete the conversation"
      onDone={onDone}
    >
      <p>Its messages are gone for good; an answer that is under way is stopped. Tasks that it started go on.</p>
    </AskedChange>
  )
}
