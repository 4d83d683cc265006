import { useId } from 'react'
import { kindNames } from '../../../../src/contract/kinds/index.ts'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { useParameters } from '../../parts/scope.ts'
import { SearchBox } from '../../parts/search-box.tsx'

const verbs = ['create', 'update', 'delete', 'get', 'list', 'use', 'operate']
const kinds = [
  ...kindNames,
  'Secret',
  'ConfigMap',
  'Session',
  'Memory',
  'Usage',
  'Budget',
  'Token',
  'Audit',
  'Metrics',
].sort()
const names = ['caller', 'verb', 'kind', 'outcome', 'since', 'until']

export function AuditFilters() {
  const [parameters, change] = useParameters()
  const isFiltered = names.some((name) => parameters.has(name))
  const clear = () => change(Object.fromEntries(names.map((name) => [name, undefined])))
  return (
    <div className="row">
      <SearchBox label="Id of the caller" name="caller" placeholder="Id of the caller" />
      <Choice name="verb" label="Verb" values={verbs} />
      <Choice name="kind" label="Kind" values={kinds} />
      <Choice name="outcome" label="Outcome" values={['allowed', 'refused']} />
      <Moment name="since" label="From" />
      <Moment name="until" label="Until" />
      {isFiltered && (
        <Button look="plain" onClick={clear}>
          Clear
        </Button>
      )}
    </div>
  )
}

function Moment({ name, label }: { name: string; label: string }) {
  const [parameters, change] = useParameters()
  const id = useId()
  return (
    <span className="row moment">
      <label htmlFor={id} className="soft">
        {label}
      </label>
      <input
        id={id}
        className="input"
        type="datetime-local"
        value={parameters.get(name) ?? ''}
        onChange={(event) => change({ [name]: event.target.value })}
      />
    </span>
  )
}
