// What the list of tasks shows: phase, type, agent, name and labels, which stand in the address.
import { taskPhases, taskTypes } from '../../../../src/contract/kinds/tasks/task.ts'
import { useObjects } from '../../data/lists.ts'
import { Choice } from '../../parts/choice.tsx'
import { FilterChips } from '../../parts/filter-chips.tsx'
import { SavedViews } from '../../parts/saved-views.tsx'
import { useParameters, useScope } from '../../parts/scope.ts'
import { SearchBox } from '../../parts/search-box.tsx'

export const filterNames = { phase: 'State', type: 'Type', agent: 'Agent', q: 'Name', label: 'Labels' }

export function TaskFilters() {
  const [parameters] = useParameters()
  const agents = useObjects('Agent', useScope().query)
  const chosen = parameters.get('agent')
  const known = agents.items.map(({ metadata }) => metadata.name)
  const names = [...new Set([...known, ...(chosen === null ? [] : [chosen])])].sort()
  return (
    <search className="stack" aria-label="Filters of the list">
      <div className="row">
        <Choice name="phase" label="State" values={taskPhases} />
        <Choice name="type" label="Type" values={taskTypes} />
        <Choice name="agent" label="Agent" values={names} />
        <SearchBox label="Text in the name" placeholder="Name" most={63} />
        <SearchBox name="label" label="Labels" placeholder="Labels: team=search,!old" isTakenWhole />
      </div>
      <div className="row">
        <FilterChips names={filterNames} />
        <SavedViews list="tasks" />
      </div>
    </search>
  )
}
