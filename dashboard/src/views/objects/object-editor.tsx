// One object as a form and as YAML: two views of the same draft.
import { useCallback, useRef, useState } from 'react'
import { isSvcError } from '../../../../src/errors.ts'
import { Button } from '../../parts/button.tsx'
import { count } from '../../parts/count.ts'
import { FormContext } from '../../parts/schema-form/form-context.ts'
import { useManifestSchema } from '../../parts/schema-form/manifest-schema.ts'
import { type Fields, type Schema, withoutBlanks } from '../../parts/schema-form/schema.ts'
import { useParameters } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { Unsaved } from '../../parts/unsaved.tsx'
import { ObjectForm } from './object-form.tsx'
import type { Manifest, ObjectKind, StoredObject } from './object-kinds.ts'
import { useReferences } from './references.tsx'
import { StaleForm, saveObject } from './save.ts'
import { StaleNotice } from './stale-notice.tsx'
import { YamlView } from './yaml-view.tsx'
import './object-editor.css'

type EditorProps = {
  of: ObjectKind
  /** What the form begins with. */
  start: Manifest
  /** The object that is changed; absent: one is made. */
  stored?: StoredObject
  onSaved: (object: StoredObject) => void
}

export function ObjectEditor(props: EditorProps) {
  const { schema, error, retry } = useManifestSchema(props.of.kind)
  if (error !== null) return <Failure error={error} retry={retry} />
  if (schema === undefined) return <Loading what="the form" />
  return <Editor {...props} schema={props.stored === undefined ? schema : withoutName(schema)} />
}

/** An object keeps its name and its namespace. */
function withoutName(schema: Schema): Schema {
  const { name: _, namespace: __, ...kept } = schema.properties?.metadata?.properties ?? {}
  const metadata = { type: 'object', properties: kept }
  return { ...schema, properties: { ...schema.properties, metadata } }
}

function Editor({ of, start, stored, onSaved, schema }: EditorProps & { schema: Schema }) {
  const [draft, setDraft] = useState(start)
  const [before, setBefore] = useState(stored)
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const [isReadable, setReadable] = useState(true)
  const [parameters] = useParameters()
  const references = useReferences(draft.metadata.namespace)
  const problems = isSvcError(error) ? (error.details ?? []) : []
  // What is stored, or was never changed. The form is left right after it was saved, before it is drawn again.
  const clean = useRef(start)
  const isUnsaved = useCallback(() => JSON.stringify(draft) !== JSON.stringify(clean.current), [draft])
  const change = (next: unknown) => setDraft(next as Manifest)

  async function save(base: StoredObject | undefined): Promise<void> {
    setBusy(true)
    setError(undefined)
    try {
      const saved = await saveObject(of.path, withoutBlanks(schema, draft) as Manifest, base)
      clean.current = draft
      onSaved(saved)
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }

  function takeTheirs({ newest }: StaleForm): void {
    setBefore(newest)
    clean.current = { metadata: newest.metadata, spec: newest.spec }
    setDraft(clean.current)
    setError(undefined)
  }

  return (
    <form
      className="stack editor"
      aria-label={stored === undefined ? `New ${of.noun}` : `Change the ${of.noun}`}
      onSubmit={(event) => {
        event.preventDefault()
        void save(before)
      }}
    >
      <ViewChoice isReadable={isReadable} />
      <div className="stack editor-body">
        {error instanceof StaleForm ? (
          <StaleNotice noun={of.noun} onTheirs={() => takeTheirs(error)} onMine={() => void save(error.newest)} />
        ) : (
          error !== undefined && <Failure error={error} />
        )}
        {parameters.get('as') === 'yaml' ? (
          <YamlView
            key={before?.metadata.resourceVersion}
            kind={of.kind}
            draft={withoutBlanks(schema, draft) as Manifest}
            problems={problems}
            onChange={setDraft}
            onReadable={setReadable}
          />
        ) : (
          <FormContext value={{ problems, ...references }}>
            <ObjectForm path={of.path} schema={schema} value={draft as unknown as Fields} onChange={change} />
          </FormContext>
        )}
      </div>
      <div className="row form-end">
        <Button type="submit" look="main" busy={isBusy} disabled={!isReadable}>
          {stored === undefined ? `Create the ${of.noun}` : 'Save'}
        </Button>
        {problems.length > 0 && <span className="problem">{count(problems.length, 'problem')} above</span>}
      </div>
      <Unsaved isUnsaved={isUnsaved} />
    </form>
  )
}

const views = [
  { as: '', title: 'Form' },
  { as: 'yaml', title: 'YAML' },
]

/** What is not readable yet cannot be shown as a form. */
function ViewChoice({ isReadable }: { isReadable: boolean }) {
  const [parameters, change] = useParameters()
  const current = parameters.get('as') ?? ''
  return (
    <fieldset className="choices">
      <legend className="visually-hidden">How it is shown</legend>
      {views.map(({ as, title }) => (
        <Button key={title} aria-pressed={as === current} disabled={!isReadable} onClick={() => change({ as })}>
          {title}
        </Button>
      ))}
    </fieldset>
  )
}
