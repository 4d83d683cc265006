// Two runs beside each other: what they were asked, what worked on them, what they did, what came of it and what that cost; each difference is marked.
import { Link } from 'react-router'
import { getTask, type TaskDetail } from '../../../../../src/contract/api/tasks/tasks.ts'
import { findVersionAt, startOfRun, useAgentVersions } from '../../../data/agent-versions.ts'
import { useObject } from '../../../data/records.ts'
import { comparePath } from '../../../parts/compare-path.ts'
import { ComparedTexts } from '../../../parts/diff/compared-texts.tsx'
import { LinkButton } from '../../../parts/link-button.tsx'
import { Page } from '../../../parts/page.tsx'
import { useParameters } from '../../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../../parts/states.tsx'
import { useTrace } from '../../../parts/trace/use-trace.ts'
import { isOver, type TaskPlace, taskPath } from '../place.ts'
import { readResult } from '../result.ts'
import { useResult } from '../use-result.ts'
import { ComparedFacts } from './compared-facts.tsx'
import { ComparedSettings } from './compared-settings.tsx'
import { ComparedSteps } from './compared-steps.tsx'
import type { Run } from './comparison.ts'

function readPlace(text: string | null): TaskPlace | undefined {
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(text ?? '') ?? []
  return namespace === undefined || name === undefined ? undefined : { namespace, name }
}

const title = 'Compare two runs'

export default function ComparePage() {
  const [parameters] = useParameters()
  const a = readPlace(parameters.get('a'))
  const b = readPlace(parameters.get('b'))
  if (a !== undefined && b !== undefined) return <Chosen key={`${taskPath(a)} ${taskPath(b)}`} a={a} b={b} />
  return (
    <Page title={title}>
      <Empty title="Two tasks are to be chosen">
        <p>
          Mark two in the <Link to="/tasks">list of tasks</Link>, or follow “Compare” on a task that repeats another
          one.
        </p>
      </Empty>
    </Page>
  )
}

function Chosen({ a, b }: { a: TaskPlace; b: TaskPlace }) {
  const before = useObject('Task', getTask, a)
  const after = useObject('Task', getTask, b)
  const tasks = [before, after]
  const error = before.error ?? after.error
  const retry = () => {
    for (const one of tasks) if (one.error !== null) void one.refetch()
  }
  const actions = before.data !== undefined && after.data !== undefined && (
    <LinkButton to={comparePath(after.data, before.data)}>Swap</LinkButton>
  )
  return (
    <Page title={title} actions={actions}>
      {error !== null && <Failure error={error} retry={retry} />}
      {tasks.some(({ isLoading }) => isLoading) && <Loading what="the tasks" />}
      {before.data !== undefined && after.data !== undefined && <Compared a={before.data} b={after.data} />}
    </Page>
  )
}

function promptOf({ spec }: TaskDetail): string {
  return spec.ai?.prompt ?? spec.prompt ?? [...(spec.command ?? []), ...(spec.args ?? [])].join('\n')
}

const hasPrompt = ({ spec }: TaskDetail) => (spec.ai?.prompt ?? spec.prompt) !== undefined

/** What it said, and what it changed in a repository. */
function writeResult(text: string | undefined): string {
  if (text === undefined) return ''
  const result = readResult(text)
  if (result.sort === 'text') return result.text
  if (result.sort === 'json') return JSON.stringify(result.value, null, 2)
  return [result.summary, result.work.diff].filter(Boolean).join('\n\n')
}

/** The version of its agent when it began; undefined where it is not known, or there is none. */
function useVersion(task: TaskDetail) {
  const { agentRef } = task.spec
  const { namespace } = task.metadata
  const versions = useAgentVersions({ namespace, name: '', ...agentRef }, agentRef !== undefined)
  return findVersionAt(versions.data?.items ?? [], startOfRun(task))
}

function useRun(task: TaskDetail) {
  const { namespace, name } = task.metadata
  const version = useVersion(task)
  const place = { namespace, name }
  const trace = useTrace(place, { isLookedAt: true, isOver: isOver(task), attempt: task.status?.attempts })
  const result = useResult({ task, place })
  return {
    task,
    version,
    steps: trace.steps,
    trace,
    result: writeResult(result.text),
    error: result.error ?? trace.error,
  }
}

/** Undefined where it is not known. */
function promptOfAgent({ task, version }: Run): string | undefined {
  return task.spec.agentRef === undefined ? '' : version && (version.content.prompt ?? '')
}

function Compared({ a, b }: { a: TaskDetail; b: TaskDetail }) {
  const before = useRun(a)
  const after = useRun(b)
  const error = before.error ?? after.error
  const [prompt, other] = [promptOfAgent(before), promptOfAgent(after)]
  return (
    <div className="stack compare">
      {error !== null && error !== undefined && <Failure error={error} />}
      <ComparedFacts a={before} b={after} />
      <ComparedTexts title={hasPrompt(a) || hasPrompt(b) ? 'Prompt' : 'Command'} a={promptOf(a)} b={promptOf(b)} />
      {prompt !== undefined && other !== undefined && (
        <ComparedTexts title="Prompt of the agent" a={prompt} b={other} />
      )}
      <ComparedSettings a={a} b={b} />
      <ComparedTexts title="Result" a={before.result} b={after.result} />
      <ComparedSteps a={before.steps} b={after.steps} isRead={before.trace.isRead && after.trace.isRead} />
    </div>
  )
}
