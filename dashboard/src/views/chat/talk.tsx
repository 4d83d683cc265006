// One conversation: what was said before, the turns of this tab, what waits for somebody, and where one types.
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import { type ChatRequest, sendChat } from '../../../../src/contract/api/chat/chat.ts'
import { getSession } from '../../../../src/contract/api/chat/sessions.ts'
import { isSvcError } from '../../../../src/errors.ts'
import { useRecord } from '../../data/records.ts'
import { PendingApprovals } from '../../parts/approvals.tsx'
import { Conversation } from '../../parts/conversation/conversation.tsx'
import { type Entry, readMessages, toEntries } from '../../parts/conversation/entries.ts'
import { Permitted } from '../../parts/permitted.tsx'
import { useScope } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { type Answering, AnsweringChoice } from './answering-choice.tsx'
import { Composer } from './composer.tsx'
import { useStayAtEnd } from './stay-at-end.ts'
import { OtherTasks, TaskOfCall, useTasksOf } from './talk-tasks.tsx'
import { TurnEnd } from './turn-end.tsx'
import { makeSessionName, runTurn, type SessionPlace, stopTurn, type Turns, useTurns } from './turns.ts'

type TalkProps = { place: SessionPlace | undefined; onBegin: (place: SessionPlace) => void }

/** The newest messages; more are on the page of the session. */
const mostMessages = 400

function useTalk(place: SessionPlace | undefined) {
  const turns = useTurns(place)
  const input = {
    params: { id: place?.name ?? '' },
    query: { namespace: place?.namespace, maxMessages: mostMessages },
  }
  const session = useRecord('Session', getSession, input, place !== undefined)
  const messages = readMessages(session.data?.transcript ?? '')
  const stored = toEntries(turns === undefined ? messages : messages.slice(0, turns.storedBefore))
  // A new one is stored with its first answer.
  const isNew = isSvcError(session.error, 'NotFound') && turns !== undefined
  return {
    turns,
    storedCount: messages.length,
    entries: [...stored, ...(turns?.entries ?? [])] as Entry[],
    isLoading: session.isLoading && turns === undefined,
    error: isNew ? null : session.error,
    retry: () => void session.refetch(),
  }
}

export function Talk({ place, onBegin }: TalkProps) {
  const { home } = useScope()
  const { state } = useLocation() as { state: { ask?: string; agent?: string } | null }
  const [answering, setAnswering] = useState<Answering>(() => (state?.agent ? { agentRef: state.agent } : {}))
  const { turns, storedCount, entries, ...reading } = useTalk(place)
  const tasks = useTasksOf(place)
  const end = useStayAtEnd(entries)
  const isRunning = turns?.isRunning === true

  function send(message: string): void {
    const to = place ?? { namespace: home, name: makeSessionName() }
    void runTurn(to, { message, ...answering } as ChatRequest, storedCount)
    if (place === undefined) onBegin(to)
  }

  // Another page may have a question to begin with; it is no longer in the history once it was sent.
  const question = useRef(place === undefined ? state?.ask : undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the conversation is opened
  useEffect(() => {
    const ask = question.current
    question.current = undefined
    if (ask !== undefined) send(ask)
  }, [])

  return (
    <section className="talk" aria-label="Conversation">
      <div
        className="said"
        ref={end.scroller}
        onScroll={end.onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        role="log"
        aria-label="What was said"
      >
        {reading.error !== null && <Failure error={reading.error} retry={reading.retry} />}
        {reading.isLoading && <Loading what="the conversation" />}
        {entries.length === 0 && !reading.isLoading && reading.error === null && <Beginning />}
        <Conversation entries={entries} below={(call) => <TaskOfCall call={call} tasks={tasks} />} />
        <OtherTasks entries={entries} tasks={tasks} />
        <PendingApprovals namespace={place?.namespace} tasks={tasks} />
        {turns !== undefined && <TurnEnd turns={turns} />}
        {turns === undefined && entries.at(-1)?.type === 'user' && (
          <p className="soft">
            No answer to this is stored: it is being written elsewhere, was stopped, or the model could not be reached.
            Ask again.
          </p>
        )}
      </div>
      <Permitted to={sendChat} what="chat">
        <Composer
          isRunning={isRunning}
          onSend={send}
          onStop={() => place !== undefined && stopTurn(place)}
          choice={
            <AnsweringChoice
              namespace={place?.namespace ?? home}
              answering={answering}
              last={lastOf(turns)}
              onChange={setAnswering}
            />
          }
        />
      </Permitted>
    </section>
  )
}

function lastOf(turns: Turns | undefined): string | undefined {
  return turns?.answering && `${turns.answering.provider} · ${turns.answering.model}`
}

function Beginning() {
  return (
    <Empty title="What shall be done?">
      <p>
        The model creates tasks, follows them and reports. Try “which tasks failed today, and why?” or “run the tests of
        this repository every night”.
      </p>
    </Empty>
  )
}
