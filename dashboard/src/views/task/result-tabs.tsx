// What came of the task: what it said, and what it changed in its repository.
import { getTaskResult, type TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import { useObjectRecord } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { DiffView } from '../../parts/diff/diff-view.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { Markdown } from '../../parts/markdown/markdown.tsx'
import { copyText, saveText } from '../../parts/save-file.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { isOver, type TaskPlace } from './place.ts'
import { type ReadResult, readResult } from './result.ts'
import { TaskPullRequest } from './task-pull-request.tsx'

type TabProps = { task: TaskDetail; place: TaskPlace }

/** Its text, once there is one. */
export function useResult({ task, place }: TabProps) {
  const isThere = task.status?.resultRef?.available === true
  const result = useObjectRecord('Task', getTaskResult, place, { isEnabled: isThere })
  return { ...result, isThere, text: result.data?.result }
}

export function ResultTab(props: TabProps) {
  const { isThere, error, text, refetch } = useResult(props)
  if (!isThere) return <NoResult task={props.task} />
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />
  if (text === undefined) return <Loading what="the result" />
  return (
    <div className="stack">
      <div className="row">
        <Button onClick={() => void copyText(text, 'The result')}>Copy</Button>
        <Button onClick={() => saveText(`${props.place.name}.txt`, text)}>Download</Button>
      </div>
      <Result of={readResult(text)} {...props} />
    </div>
  )
}

function NoResult({ task }: { task: TaskDetail }) {
  return (
    <Empty title={isOver(task) ? 'It has left no result' : 'There is no result yet'}>
      <p>{isOver(task) ? 'The log tells how far it came.' : 'It appears here when the task has succeeded.'}</p>
    </Empty>
  )
}

export function Result({ of, task, place }: TabProps & { of: ReadResult }) {
  // What models write is Markdown; what a command prints is not.
  if (of.sort === 'text' && task.spec.type !== 'container') return <Markdown label="Result" text={of.text} />
  if (of.sort === 'text') return <ForeignBlock label="Result" text={of.text} />
  if (of.sort === 'json') return <ForeignBlock label="Result" text={JSON.stringify(of.value, null, 2)} />
  const { work, summary } = of
  const code = (text: string | undefined) => text && <Foreign className="mono" text={text} />
  return (
    <>
      {summary.trim() !== '' && task.spec.type !== 'container' && <Markdown label="Summary" text={summary} />}
      {summary.trim() !== '' && task.spec.type === 'container' && <ForeignBlock label="Summary" text={summary} />}
      <section className="card">
        <h2>In the repository</h2>
        <Facts
          of={[
            ['Branch', code(work.branch)],
            ['Began at', code(work.baseSHA)],
            ['Ended at', code(work.headSHA) ?? 'nothing was changed'],
            ['Pushed to', code(work.pushBranch)],
            ['Not pushed', code(work.pushError)],
            ['Verdict', code(work.verdict)],
            ['Feedback', work.feedback && <Foreign text={work.feedback} most={20_000} />],
          ]}
        />
        {work.pushBranch && isOver(task) && <TaskPullRequest place={place} />}
      </section>
      {work.data !== undefined && <ForeignBlock label="Data" text={JSON.stringify(work.data, null, 2)} />}
    </>
  )
}

export function ChangesTab(props: TabProps) {
  const { isThere, error, text, refetch } = useResult(props)
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />
  if (!isThere) {
    return (
      <Empty title="There are no changes yet">
        <p>They appear here when the task has succeeded.</p>
      </Empty>
    )
  }
  if (text === undefined) return <Loading what="the changes" />
  return <Changes of={readResult(text)} name={props.place.name} />
}

function Changes({ of, name }: { of: ReadResult; name: string }) {
  const { diff, diffTruncated } = of.sort === 'work' ? of.work : {}
  if (diff === undefined) return <Empty title="It did not work in a repository" />
  if (diff === '') return <Empty title="It changed nothing" />
  return (
    <div className="stack">
      {diffTruncated && <p className="notice">The diff is incomplete, because it is too large.</p>}
      <div className="row">
        <Button onClick={() => saveText(`${name}.diff`, diff)}>Download</Button>
        <span className="soft">
          <code>svc task apply</code> brings it into a checkout.
        </span>
      </div>
      <DiffView diff={diff} />
    </div>
  )
}
