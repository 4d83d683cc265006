// What the list of tasks shows: phase, type, agent, text and labels, which stand in the address.
import { type KeyboardEvent, useEffect, useState } from 'react'
import { taskPhases, taskTypes } from '../../../../src/contract/resources/task.ts'
import { useParameters, useScope } from '../../app/scope.ts'
import { useObjects } from '../../data/lists.ts'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'

export const filterNames = ['phase', 'type', 'agent', 'text', 'label'] as const

/** Text is taken when one has typed it: with Enter, or on leaving the field. */
function TextFilter({ name, label, hint }: { name: string; label: string; hint: string }) {
  const [parameters, change] = useParameters()
  const given = parameters.get(name) ?? ''
  const [text, setText] = useState(given)
  useEffect(() => setText(given), [given])
  const take = () => text.trim() !== given && change({ [name]: text.trim() })
  return (
    <input
      className="input filter-text"
      type="search"
      aria-label={label}
      placeholder={hint}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={take}
      onKeyDown={(event: KeyboardEvent) => event.key === 'Enter' && take()}
    />
  )
}

export function TaskFilters() {
  const [parameters, change] = useParameters()
  const agents = useObjects('Agent', useScope().query)
  const chosen = parameters.get('agent')
  const known = agents.items.map(({ metadata }) => metadata.name)
  const names = [...new Set([...known, ...(chosen === null ? [] : [chosen])])].sort()
  const isFiltered = filterNames.some((name) => parameters.has(name))
  return (
    <search className="row" aria-label="Filters of the list">
      <Choice name="phase" label="State" values={taskPhases} />
      <Choice name="type" label="Type" values={taskTypes} />
      <Choice name="agent" label="Agent" values={names} />
      <TextFilter name="text" label="Text in the name or message" hint="Name or message" />
      <TextFilter name="label" label="Labels" hint="Labels: team=search,!old" />
      {isFiltered && (
        <Button look="plain" onClick={() => change(Object.fromEntries(filterNames.map((name) => [name, ''])))}>
          Show all
        </Button>
      )}
    </search>
  )
}
