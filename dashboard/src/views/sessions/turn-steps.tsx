// What the turns of a chat did, step by step; live.
import { useMemo } from 'react'
import { getSessionTrace, type SessionDetail } from '../../../../src/contract/api/chat/sessions.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { listTraceRows } from '../../parts/trace/trace-rows.ts'
import { TraceTree } from '../../parts/trace/trace-tree.tsx'
import { useTrace } from '../../parts/trace/use-trace.ts'

/** A stream ends when no turn runs; the next message, which makes the transcript longer, opens another one. */
export function TurnSteps({ session: { namespace, name, messageCount } }: { session: SessionDetail }) {
  const source = { namespace, name, route: getSessionTrace }
  const trace = useTrace(source, { isLookedAt: true, isOver: false, attempt: messageCount })
  const rows = useMemo(() => listTraceRows(trace.steps, [], true), [trace.steps])
  if (trace.error !== undefined) return <Failure error={trace.error} retry={trace.retry} />
  if (rows.length > 0) return <TraceTree rows={rows} namespace={namespace} />
  if (!trace.isRead) return <Loading what="the steps" />
  return (
    <Empty title="No turn has steps yet">
      <p>The next answer of the chat is shown here step by step. What tasks did in a session is on their pages.</p>
    </Empty>
  )
}
