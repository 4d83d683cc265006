// The entries of a config map as one writes them: a name and a text each.
import { type FormEvent, useState } from 'react'
import {
  type ConfigMapObject,
  createConfigMap,
  updateConfigMap,
} from '../../../../src/contract/api/resources/configmaps.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { addRow, changeRow, dataOf, type EntryRow, rowsOf } from '../../parts/entry-rows.ts'
import { Field } from '../../parts/field.tsx'
import { problemOf } from '../../parts/problems.ts'
import { Failure } from '../../parts/states.tsx'
import { TextArea } from '../../parts/text-area.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { say } from '../../parts/toasts.tsx'

type FormProps = {
  namespace: string
  /** Absent: a new one is made. */
  before?: ConfigMapObject
  onSaved: (name: string) => void
  onClose: () => void
}

/** Somebody else's change in the meantime is refused by the service, and not overwritten. */
function useSave({ namespace, before, onSaved }: FormProps) {
  const create = useChange(createConfigMap, 'ConfigMap')
  const update = useChange(updateConfigMap, 'ConfigMap')
  function save(name: string, entries: readonly EntryRow[]): void {
    const query = { namespace }
    const data = dataOf(entries)
    const onSuccess = () => {
      say(`The config map ${name} is ${before === undefined ? 'created' : 'changed'}`)
      onSaved(name)
    }
    if (before === undefined) create.mutate({ query, body: { name, data } }, { onSuccess })
    else {
      const { resourceVersion } = before.metadata
      update.mutate({ params: { name }, query, body: { metadata: { resourceVersion }, data } }, { onSuccess })
    }
  }
  return { save, error: create.error ?? update.error, isBusy: create.isPending || update.isPending }
}

export function ConfigMapForm(props: FormProps) {
  const { before, onClose } = props
  const [name, setName] = useState(before?.metadata.name ?? '')
  const [entries, setEntries] = useState(() => (before === undefined ? addRow([]) : rowsOf(before.data)))
  const { save, error, isBusy } = useSave(props)
  function submit(event: FormEvent): void {
    event.preventDefault()
    save(name, entries)
  }
  return (
    <form className="stack form" onSubmit={submit}>
      {error !== null && <Failure error={error} />}
      {before === undefined && (
        <TextField label="Name" problem={problemOf(error, 'name')} isRequired value={name} onText={setName} />
      )}
      <EntryFields entries={entries} onChange={setEntries} />
      <div className="row">
        <Button onClick={() => setEntries(addRow(entries))}>Another entry</Button>
        <span className="grow" />
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="main" busy={isBusy}>
          {before === undefined ? 'Create the config map' : 'Save'}
        </Button>
      </div>
    </form>
  )
}

function EntryFields({ entries, onChange }: { entries: EntryRow[]; onChange: (entries: EntryRow[]) => void }) {
  const change = (id: number, part: Partial<EntryRow>) => onChange(changeRow(entries, id, part))
  return entries.map(({ id, key, value }, at) => (
    <fieldset key={id} className="card stack">
      <legend className="visually-hidden">Entry {at + 1}</legend>
      <TextField
        label="Entry"
        hint="A name such as reviewer.md, by which it is referred to."
        className="mono"
        value={key}
        onText={(next) => change(id, { key: next })}
      />
      <Field label="Text">
        {(control) => <TextArea {...control} rows={10} value={value} onText={(next) => change(id, { value: next })} />}
      </Field>
      <div>
        <Button className="small" onClick={() => onChange(entries.filter((entry) => entry.id !== id))}>
          Remove the entry
        </Button>
      </div>
    </fieldset>
  ))
}
