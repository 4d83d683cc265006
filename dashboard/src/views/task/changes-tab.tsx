// What the task changed in its repository.
import { Button } from '../../parts/button.tsx'
import { DiffView } from '../../parts/diff/diff-view.tsx'
import { saveText } from '../../parts/save-file.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { type ReadResult, readResult } from './result.ts'
import { type ResultOf, useResult } from './use-result.ts'

export function ChangesTab(props: ResultOf) {
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
