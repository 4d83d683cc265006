// One session: what it used, and what was said in it, tools included.
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { deleteSession, getSession, type SessionDetail } from '../../../../src/contract/api/chat/sessions.ts'
import { useRecord } from '../../data/records.ts'
import { AskedChange } from '../../parts/asked-button.tsx'
import { Button } from '../../parts/button.tsx'
import { Conversation } from '../../parts/conversation/conversation.tsx'
import { readMessages, toEntries } from '../../parts/conversation/entries.ts'
import { Facts } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Ago } from '../../parts/time.tsx'
import { say } from '../../parts/toasts.tsx'
import { formatCount } from '../../parts/usage-facts.tsx'
import { TurnSteps } from './turn-steps.tsx'

type Place = { namespace: string; name: string }

const shownAtFirst = 200
const mostOfAll = 100_000

const tabs = [
  { name: '', title: 'Transcript' },
  { name: 'steps', title: 'Steps' },
]

export default function SessionPage() {
  const { namespace = '', name = '' } = useParams()
  const [parameters] = useParameters()
  const at = parameters.get('at') ?? undefined
  const [most, setMost] = useState(at === undefined ? shownAtFirst : mostOfAll)
  const session = useRecord('Session', getSession, { params: { id: name }, query: { namespace, maxMessages: most } })
  return (
    <Page
      title={name}
      heading={<Foreign text={name} />}
      actions={<Actions session={session.data} place={{ namespace, name }} />}
    >
      {session.error !== null && <Failure error={session.error} retry={() => void session.refetch()} />}
      {session.data === undefined && session.error === null && <Loading what="the session" />}
      {session.data !== undefined && (
        <>
          <About session={session.data} />
          {session.data.sessionType === 'chat' && <Tabs label="Parts of the session" tabs={tabs} />}
          {parameters.get('tab') === 'steps' ? (
            <TurnSteps session={session.data} />
          ) : (
            <Transcript session={session.data} most={most} marked={at} onAll={() => setMost(mostOfAll)} />
          )}
        </>
      )}
    </Page>
  )
}

function About({ session }: { session: SessionDetail }) {
  const { sessionType, namespace, activeTask, answeredBy, inputTokens, outputTokens, createdAt, updatedAt } = session
  return (
    <section className="card" aria-label="About the session">
      <Facts
        of={[
          ['Of', sessionType === 'chat' ? 'a chat' : 'tasks'],
          ['Namespace', namespace],
          ['At work', activeTask && <Foreign text={activeTask} />],
          ['Model', answeredBy && <Foreign text={`${answeredBy.name} · ${answeredBy.model}`} />],
          ['Tokens', `${formatCount(inputTokens)} in, ${formatCount(outputTokens)} out`],
          ['Created', <Ago key="created" at={createdAt} />],
          ['Last written', <Ago key="written" at={updatedAt} />],
        ]}
      />
    </section>
  )
}

type TranscriptProps = { session: SessionDetail; most: number; marked: string | undefined; onAll: () => void }

function Transcript({ session, most, marked, onAll }: TranscriptProps) {
  const messages = readMessages(session.transcript)
  if (messages.length === 0) return <Empty title="Nothing was said yet" />
  return (
    <section className="stack" aria-label="Transcript">
      {session.messageCount > messages.length && most < session.messageCount && (
        <div>
          <Button onClick={onAll}>Show the {session.messageCount - messages.length} messages before these</Button>
        </div>
      )}
      <Conversation entries={toEntries(messages)} marked={marked} />
    </section>
  )
}

function Actions({ session, place }: { session: SessionDetail | undefined; place: Place }) {
  const navigate = useNavigate()
  if (session === undefined) return null
  const { namespace, name } = place
  function onDone(): void {
    say(`The session ${name} is deleted`)
    void navigate('/sessions')
  }
  return (
    <>
      {session.sessionType === 'chat' && (
        <LinkButton to={`/chat?session=${namespace}/${name}`}>Go on in the chat</LinkButton>
      )}
      <AskedChange
        to={deleteSession}
        input={{ params: { id: name }, query: { namespace } }}
        sort="Session"
        word="Delete"
        look="danger"
        title={`Delete the session ${name}?`}
        action="Delete the session"
        onDone={onDone}
      >
        <p>Its transcript is gone for good. It is refused while a task or an answer works in it.</p>
      </AskedChange>
    </>
  )
}
