// A list of names each of which is on or off, such as the tools of an agent: chips instead of a form for each.
import { useContext, useId, useState } from 'react'
import { Button } from '../button.tsx'
import { Foreign } from '../foreign.tsx'
import { TextField } from '../text-field.tsx'
import { FormContext, isBelow } from './form-context.ts'
import { Group, RemoveButton, type ValueProps } from './group.tsx'
import type { Schema } from './schema.ts'
import '../filter-chips.css'

type Switch = { name: string; enabled?: boolean }

/** Whether the entries of the list have a name and a switch, and nothing else. */
export function isSwitchList({ items }: Schema): boolean {
  return Object.keys(items?.properties ?? {}).join() === 'name,enabled'
}

export function SwitchList(props: ValueProps) {
  const { problems, namesFor } = useContext(FormContext)
  const { name, path, value, onChange } = props
  const entries = Array.isArray(value) ? (value as Switch[]) : []
  const isChosen = (one: string) => entries.some((entry) => entry.name === one)
  return (
    <Group {...props}>
      <ul className="row" aria-label={name}>
        {entries.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a text can have a name twice, for the service to say what is wrong
          <li key={index} className="chip switch-chip" data-off={entry.enabled === false}>
            <label>
              <input
                type="checkbox"
                checked={entry.enabled !== false}
                onChange={() => onChange(entries.with(index, { ...entry, enabled: entry.enabled === false }))}
              />
              <Foreign text={entry.name} />
            </label>
            <RemoveButton name={entry.name} onRemove={() => onChange(entries.toSpliced(index, 1))} />
          </li>
        ))}
      </ul>
      {problems
        .filter((problem) => isBelow(problem.path, path))
        .map((problem) => (
          <p key={`${problem.path} ${problem.message}`} className="problem">
            <code>{problem.path.slice(path.length)}</code> <Foreign text={problem.message} />
          </p>
        ))}
      <NewEntry
        label={`Add to ${name}`}
        names={namesFor(name).filter((one) => !isChosen(one))}
        isTaken={isChosen}
        onAdd={(added) => onChange([...entries, { name: added, enabled: true }])}
      />
    </Group>
  )
}

type NewEntryProps = {
  label: string
  names: readonly string[]
  isTaken: (name: string) => boolean
  onAdd: (name: string) => void
}

function NewEntry({ label, names, isTaken, onAdd }: NewEntryProps) {
  const id = useId()
  const [text, setText] = useState('')
  const name = text.trim()
  const isReady = name !== '' && !isTaken(name)
  function add(): void {
    if (!isReady) return
    onAdd(name)
    setText('')
  }
  return (
    <div className="new-key">
      <TextField
        label={label}
        problem={isTaken(name) ? 'It is there already.' : undefined}
        list={id}
        value={text}
        onText={setText}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
          event.preventDefault()
          add()
        }}
      />
      <datalist id={id}>
        {names.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <Button className="small" disabled={!isReady} onClick={add}>
        Add
      </Button>
    </div>
  )
}
