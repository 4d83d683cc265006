// What was said, one below the other.
import { memo, type ReactNode } from 'react'
import { Foreign } from '../foreign.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { Ago } from '../time.tsx'
import type { CallEntry, Entry } from './entries.ts'
import { ToolCall } from './tool-call.tsx'
import './conversation.css'

type ConversationProps = {
  entries: readonly Entry[]
  /** What stands below a call, such as the task that it made. */
  below?: (call: CallEntry) => ReactNode
  /** The moment (RFC 3339) of an entry that is pointed out. */
  marked?: string | undefined
}

const names = { user: 'You', answer: 'Answer', note: 'Note of the service' } as const

export function Conversation({ entries, below, marked }: ConversationProps) {
  return entries.map((entry, index) => {
    const isMarked = marked !== undefined && entry.at === marked
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a conversation only grows at its end
      <div key={index} className="entry-of-talk" data-marked={isMarked} ref={isMarked ? showMarked : undefined}>
        {entry.type === 'call' ? (
          <>
            <ToolCall call={entry} />
            {below?.(entry)}
          </>
        ) : (
          <Spoken {...entry} />
        )}
      </div>
    )
  })
}

function showMarked(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'center' })
}

type SpokenProps = { type: 'user' | 'answer' | 'note'; text: string; at?: string | undefined }

const Spoken = memo(function Spoken({ type, text, at }: SpokenProps) {
  return (
    <article className="spoken" data-by={type} aria-label={names[type]}>
      {type === 'answer' ? (
        <Markdown text={text} label="Answer" />
      ) : (
        <div className="as-written">
          <Foreign text={text} most={20_000} />
        </div>
      )}
      {at !== undefined && (
        <span className="spoken-at">
          <Ago at={at} />
        </span>
      )}
    </article>
  )
})
