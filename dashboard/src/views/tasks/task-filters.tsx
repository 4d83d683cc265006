// What the list of tasks shows: phase, type, agent, name and labels, which stand in the address.
import { taskPhases, taskTypes } from '../../../../src/contract/kinds/tasks/task.ts'
import { useObjects } from '../../data/lists.ts'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { useParameters, useScope } from '../../parts/scope.ts'
import { SearchBox } from '../../parts/search-box.tsx'

export const filterNames = ['phase', 'type', 'agent', 'q', 'label'] as const

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
      <SearchBox label="Text in the name" placeholder="Name" most={63} />
      <SearchBox name="label" label="Labels" placeholder="Labels: team=search,!old" isTakenWhole />
      {isFiltered && (
        <Button look="plain" onClick={() => change(Object.fromEntries(filterNames.map((name) => [name, ''])))}>
          Show all
        </Button>
      )}
    </search>
  )
}
