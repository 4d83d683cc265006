// What came of the task: what it said, and where it worked.
import type { TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { later } from '../../parts/later.ts'
import { isPlainLine, PlainLine } from '../../parts/markdown/plain-line.tsx'
import { copyText, saveText } from '../../parts/save-file.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { isOver } from './place.ts'
import { type ReadResult, readResult } from './result.ts'
import { TaskPullRequest } from './task-pull-request.tsx'
import { type ResultOf, useResult } from './use-result.ts'

const Markdown = later(async () => (await import('../../parts/markdown/markdown.tsx')).Markdown)

/** What models write is Markdown. */
function Words({ label, text }: { label: string; text: string }) {
  return isPlainLine(text) ? <PlainLine text={text} /> : <Markdown label={label} text={text} />
}

export function ResultTab(props: ResultOf) {
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

export function Result({ of, task, place }: ResultOf & { of: ReadResult }) {
  // What a command prints is no Markdown.
  if (of.sort === 'text' && task.spec.type !== 'container') return <Words label="Result" text={of.text} />
  if (of.sort === 'text') return <ForeignBlock label="Result" text={of.text} />
  if (of.sort === 'json') return <ForeignBlock label="Result" text={JSON.stringify(of.value, null, 2)} />
  const { work, summary } = of
  const code = (text: string | undefined) => text && <Foreign className="mono" text={text} />
  return (
    <>
      {summary.trim() !== '' && task.spec.type !== 'container' && <Words label="Summary" text={summary} />}
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
