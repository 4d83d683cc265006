// One step, opened: what it was called with, what came of it, and what it used.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { formatMoney } from '../../../../src/client/money.ts'
import type { TraceStep } from '../../../../src/contract/api/tasks/trace.ts'
import { describeBytes } from '../../../../src/lib/bytes.ts'
import { tryParseJson } from '../../../../src/lib/json.ts'
import { Facts } from '../facts.tsx'
import { Foreign, ForeignBlock } from '../foreign.tsx'
import { describeSpan } from '../time.tsx'
import { formatCount } from '../usage-facts.tsx'
import type { TraceRow } from './trace-rows.ts'

const momentOf = (at: string) => new Date(at).toLocaleString()

export function StepDetails({ row, namespace }: { row: TraceRow; namespace: string }) {
  const { step, event } = row
  if (event !== undefined) {
    return (
      <Facts
        of={[
          ['When', momentOf(event.createdAt)],
          ['Event', <Foreign key="type" text={event.type} />],
          ['Reason', event.reason && <Foreign text={event.reason} />],
          ['Message', <Foreign key="message" text={event.message} most={20_000} />],
        ]}
      />
    )
  }
  return (
    <>
      <Facts of={factsOf(step, namespace)} />
      <Content title="Arguments" text={step.input} bytes={step.inputBytes} />
      <Content
        title={step.kind === 'text' || step.kind === 'thinking' ? 'Text' : 'Result'}
        text={step.output}
        bytes={step.outputBytes}
      />
    </>
  )
}

function factsOf(step: TraceStep, namespace: string): [string, ReactNode][] {
  const { model, task, error, outcome, startedAt } = step
  return [
    ['Started', momentOf(startedAt)],
    ['Outcome', outcome === undefined ? 'running' : outcome],
    ['Error', error && <Foreign text={error} />],
    [
      'Child task',
      task && (
        <Link to={`/tasks/${namespace}/${task}`}>
          <Foreign text={task} />
        </Link>
      ),
    ],
    ...modelFacts(model),
  ]
}

function modelFacts(model: TraceStep['model']): [string, ReactNode][] {
  if (model === undefined) return []
  const { provider, name, inputTokens, outputTokens, cachedTokens, cost, currency, firstTokenMs, finishReason } = model
  return [
    ['Provider', <Foreign key="provider" text={provider} />],
    ['Model', <Foreign key="model" text={name} />],
    ['Tokens in', formatCount(inputTokens)],
    ['Cached', cachedTokens > 0 && formatCount(cachedTokens)],
    ['Tokens out', formatCount(outputTokens)],
    ['Cost', cost === undefined ? 'no price is set' : <Foreign key="cost" text={formatMoney(cost, currency)} />],
    ['First token after', firstTokenMs === undefined ? undefined : describeSpan(firstTokenMs)],
    ['Finish reason', finishReason && <Foreign text={finishReason} />],
  ]
}

/** JSON with its structure; what was cut is no JSON any more and stays as it is. */
function layOut(text: string): string {
  const value = tryParseJson(text)
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : text
}

function Content({ title, text, bytes }: { title: string; text: string | undefined; bytes: number | undefined }) {
  if (text === undefined) {
    if (bytes === undefined || bytes === 0) return null
    return (
      <p className="soft">
        {title}: {describeBytes(bytes)}, no longer stored, because the task has very many steps.
      </p>
    )
  }
  const isCut = bytes !== undefined && new TextEncoder().encode(text).length < bytes
  return (
    <div>
      <p className="soft">
        {title}
        {isCut && `: the beginning of ${describeBytes(bytes)}`}
      </p>
      <ForeignBlock label={title} text={layOut(text)} />
    </div>
  )
}
