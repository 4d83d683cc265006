// The entries of a config map as one writes them: a name and a text each.
import { type FormEvent, useState } from 'react'
import {
  type ConfigMapObject,
  createConfigMap,
  updateConfigMap,
} from '../../../../src/contract/api/resources/configmaps.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { problemOf } from '../../parts/problems.ts'
import { Failure } from '../../parts/states.tsx'
import { TextArea } from '../../parts/text-area.tsx'
import { say } from '../../parts/toasts.tsx'

type Entry = { id: number; key: string; text: string }

const entryOf = (entries: readonly Entry[], key = ''): Entry => ({
  id: Math.max(0, ...entries.map(({ id }) => id)) + 1,
  key,
  text: '',
})

function readEntries(before: ConfigMapObject | undefined): Entry[] {
  if (before === undefined) return [entryOf([])]
  return Object.entries(before.data).map(([key, text], at) => ({ id: at + 1, key, text }))
}

/** Texts by name; of two entries of one name the later one counts. */
const dataOf = (entries: readonly Entry[]) =>
  Object.fromEntries(entries.filter(({ key }) => key !== '').map(({ key, text }) => [key, text]))

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
  function save(name: string, entries: readonly Entry[]): void {
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
  const [entries, setEntries] = useState(() => readEntries(before))
  const { save, error, isBusy } = useSave(props)
  function submit(event: FormEvent): void {
    event.preventDefault()
    save(name, entries)
  }
  return (
    <form className="stack form" onSubmit={submit}>
      {error !== null && <Failure error={error} />}
      {before === undefined && (
        <Field label="Name" problem={problemOf(error, 'name')} isRequired>
          {(control) => (
            <input
              {...control}
              className="input"
              dir="auto"
              autoComplete="off"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
      )}
      <EntryFields entries={entries} onChange={setEntries} />
      <div className="row">
        <Button onClick={() => setEntries([...entries, entryOf(entries)])}>Another entry</Button>
        <span className="grow" />
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="main" busy={isBusy}>
          {before === undefined ? 'Create the config map' : 'Save'}
        </Button>
      </div>
    </form>
  )
}

function EntryFields({ entries, onChange }: { entries: Entry[]; onChange: (entries: Entry[]) => void }) {
  const change = (id: number, part: Partial<Entry>) =>
    onChange(entries.map((entry) => (entry.id === id ? { ...entry, ...part } : entry)))
  return entries.map(({ id, key, text }, at) => (
    <fieldset key={id} className="card stack">
      <legend className="visually-hidden">Entry {at + 1}</legend>
      <Field label="Entry" hint="A name such as reviewer.md, by which it is referred to.">
        {(control) => (
          <input
            {...control}
            className="input mono"
            dir="auto"
            autoComplete="off"
            spellCheck={false}
            value={key}
            onChange={(event) => change(id, { key: event.target.value })}
          />
        )}
      </Field>
      <Field label="Text">
        {(control) => <TextArea {...control} rows={10} value={text} onText={(next) => change(id, { text: next })} />}
      </Field>
      <div>
        <Button className="small" onClick={() => onChange(entries.filter((entry) => entry.id !== id))}>
          Remove the entry
        </Button>
      </div>
    </fieldset>
  ))
}
