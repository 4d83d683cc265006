// Sessions of tasks and chats, newest first; words find messages in all of them.
import { Link, useNavigate } from 'react-router'
import { listSessions, type SessionItem } from '../../../../src/contract/api/chat/sessions.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import type { Loaded } from '../../parts/measured-list.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters, useScope } from '../../parts/scope.ts'
import { SearchBox } from '../../parts/search-box.tsx'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { formatCount } from '../../parts/usage-facts.tsx'
import { pathOf } from './session-path.ts'
import { TranscriptHits } from './transcript-hits.tsx'

const columns: Column<SessionItem>[] = [
  {
    title: 'Name',
    width: 'minmax(180px, 2fr)',
    cell: (session) => (
      <Link to={pathOf(session)}>
        <Foreign text={session.name} />
      </Link>
    ),
  },
  {
    title: 'About',
    width: 'minmax(0, 2.4fr)',
    cell: ({ title }) => <Foreign text={title} />,
    narrow: 'second',
  },
  {
    title: 'Of',
    width: '110px',
    cell: ({ sessionType, activeTask }) =>
      activeTask === undefined ? <span>{sessionType}</span> : <Badge tone="busy">{`${sessionType}, at work`}</Badge>,
  },
  { title: 'Namespace', cell: ({ namespace }) => namespace, narrow: 'hidden' },
  {
    title: 'Model',
    cell: ({ answeredBy }) => <Foreign text={answeredBy && `${answeredBy.name} · ${answeredBy.model}`} />,
    narrow: 'hidden',
  },
  {
    title: 'Messages',
    measure: ({ messageCount }) => messageCount,
    width: '86px',
    atEnd: true,
    cell: ({ messageCount }) => <span className="number">{formatCount(messageCount)}</span>,
    narrow: 'hidden',
  },
  {
    title: 'Tokens',
    measure: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
    width: '110px',
    atEnd: true,
    cell: ({ inputTokens, outputTokens }) => <span className="number">{formatCount(inputTokens + outputTokens)}</span>,
    narrow: 'hidden',
  },
  {
    title: 'Last written',
    width: '120px',
    atEnd: true,
    cell: ({ updatedAt }) => <Ago at={updatedAt} />,
    narrow: 'hidden',
  },
]

export default function SessionListPage() {
  const [parameters] = useParameters()
  const words = parameters.get('q')?.trim() ?? ''
  const actions = (
    <>
      <SearchBox label="Search in transcripts" placeholder='Search, "in phrases" too' />
      <Choice name="type" label="Of" values={['chat', 'task']} />
    </>
  )
  return (
    <Page title="Sessions" actions={actions}>
      {words === '' ? <Sessions /> : <TranscriptHits words={words} />}
    </Page>
  )
}

function Sessions() {
  const navigate = useNavigate()
  const [parameters] = useParameters()
  const type = parameters.get('type')
  const query = { ...useScope().query, sessionType: type ?? undefined }
  const sessions = useRecordPages('Session', listSessions, { query } as never)
  return (
    <Listing
      label="Sessions"
      columns={columns}
      list={sessions as Loaded<SessionItem>}
      keyOf={pathOf}
      onOpen={(session) => void navigate(pathOf(session))}
      empty={
        <Empty title={type === null ? 'There are no sessions yet' : 'There are no sessions of that sort'}>
          <p>A chat is a session, and so is the conversation of a task that names one (`sessionRef`).</p>
        </Empty>
      }
      fills
    />
  )
}
