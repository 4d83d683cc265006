// Who and what could attack the repository: written by the first run, changed by whoever knows better.
import { type FormEvent, useState } from 'react'
import { getThreatModel, updateThreatModel } from '../../../../src/contract/api/scans/routes.ts'
import { isSvcError } from '../../../../src/errors.ts'
import { useChange, useRecord } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Markdown } from '../../parts/markdown/markdown.tsx'
import { problemOf } from '../../parts/problems.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { TextArea } from '../../parts/text-area.tsx'
import { Ago } from '../../parts/time.tsx'
import { say } from '../../parts/toasts.tsx'
import { Offered } from '../../session/offered.tsx'
import type { Place } from './scan-actions.tsx'

export function ThreatModelTab({ namespace, name }: Place) {
  const [isEditing, setEditing] = useState(false)
  const model = useRecord('Scan', getThreatModel, { params: { name }, query: { namespace } })
  const isMissing = isSvcError(model.error, 'NotFound')
  if (model.isLoading) return <Loading what="the threat model" />
  if (model.error !== null && !isMissing) return <Failure error={model.error} retry={() => void model.refetch()} />
  if (isEditing) {
    return <Editor place={{ namespace, name }} content={model.data?.content ?? ''} onClose={() => setEditing(false)} />
  }
  return (
    <div className="stack">
      {isMissing && (
        <Empty title="There is no threat model yet">
          <p>The first run writes one. Reviews go by it: what you write is heeded by the next run.</p>
        </Empty>
      )}
      {model.data !== undefined && (
        <article className="card stack" aria-label="Threat model">
          <p className="soft">
            Version {model.data.version}, <Foreign text={model.data.source} /> <Ago at={model.data.updatedAt} />
          </p>
          <Markdown label="Threat model" text={model.data.content} />
        </article>
      )}
      <Offered to={updateThreatModel}>
        <div>
          <Button onClick={() => setEditing(true)}>{isMissing ? 'Write one' : 'Edit'}</Button>
        </div>
      </Offered>
    </div>
  )
}

function Editor({ place, content, onClose }: { place: Place; content: string; onClose: () => void }) {
  const [text, setText] = useState(content)
  const save = useChange(updateThreatModel, 'Scan')
  const { namespace, name } = place
  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    const onSuccess = () => {
      say('The threat model is saved')
      onClose()
    }
    save.mutate({ params: { name }, query: { namespace }, body: { content: text } }, { onSuccess })
  }
  return (
    <form className="form stack card" onSubmit={onSubmit} aria-label="Threat model">
      {save.error !== null && <Failure error={save.error} />}
      <Field label="Threat model" hint="In Markdown." problem={problemOf(save.error, 'content')}>
        {(control) => <TextArea {...control} className="mono" rows={24} value={text} onText={setText} />}
      </Field>
      <div className="row">
        <Button type="submit" look="main" busy={save.isPending}>
          Save
        </Button>
        <Button onClick={onClose}>Discard</Button>
      </div>
    </form>
  )
}
