// Messages that have the words, the best match first; each leads to its place in its session.
import { Link } from 'react-router'
import { searchTranscripts, type TranscriptHit } from '../../../../src/contract/api/chat/transcripts.ts'
import { useRecord } from '../../data/records.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { useScope } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { pathOf } from './session-path.ts'

const most = 50

export function TranscriptHits({ words }: { words: string }) {
  const query = { ...useScope().query, query: words, limit: most }
  const found = useRecord('Session', searchTranscripts, { query } as never)
  const items: TranscriptHit[] = found.data?.items ?? []
  if (found.error !== null) return <Failure error={found.error} retry={() => void found.refetch()} />
  if (found.data === undefined) return <Loading what="messages" />
  if (items.length === 0) {
    return (
      <Empty title="No message has all these words">
        <p>Words between double quotes are a phrase; fewer words find more.</p>
      </Empty>
    )
  }
  return (
    <ol className="stack" aria-label="Messages that were found">
      {items.map((hit) => (
        <li key={`${hit.namespace}/${hit.sessionName}/${hit.messageId}`} className="card">
          <div className="row">
            <Link
              className="text-link"
              to={`${pathOf({ ...hit, name: hit.sessionName })}?at=${encodeURIComponent(hit.createdAt)}`}
            >
              <Foreign text={hit.sessionName} />
            </Link>
            <span className="badge">{hit.role}</span>
            {hit.name !== undefined && <Foreign className="soft" text={hit.name} />}
            <span className="soft">
              <Ago at={hit.createdAt} />
            </span>
          </div>
          <p>
            <Foreign text={hit.snippet} />
          </p>
        </li>
      ))}
    </ol>
  )
}
