// A call of a tool: folded to a line, with its arguments and its result when opened.
import { Badge, type Tone } from '../badge.tsx'
import { Foreign, ForeignBlock } from '../foreign.tsx'
import type { CallEntry, CallState } from './entries.ts'

const states: Record<CallState, [word: string, tone: Tone]> = {
  running: ['Runs', 'busy'],
  done: ['Done', 'good'],
  failed: ['Failed', 'bad'],
  lost: ['Without an answer', 'warn'],
}

/** The values of the arguments, for the line. */
function describeArguments(args: Record<string, unknown>): string {
  const values = Object.values(args).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  return values.join(' · ').replaceAll(/\s+/g, ' ')
}

export function ToolCall({ call }: { call: CallEntry }) {
  const [word, tone] = states[call.state]
  const hasArguments = Object.keys(call.args).length > 0
  return (
    <details className="tool-call" data-state={call.state}>
      <summary>
        <code>
          <Foreign text={call.name} most={128} />
        </code>
        <span className="soft cut">
          <Foreign text={describeArguments(call.args)} most={160} />
        </span>
        <Badge tone={tone}>{word}</Badge>
      </summary>
      <div className="stack">
        {hasArguments && <ForeignBlock label="Arguments" text={JSON.stringify(call.args, null, 2)} />}
        {call.result !== '' && <ForeignBlock label="Result" text={call.result} />}
        {!hasArguments && call.result === '' && <span className="soft">It has no arguments and no result yet.</span>}
      </div>
    </details>
  )
}
