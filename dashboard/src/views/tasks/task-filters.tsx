import { useId } from 'react'
import { useParameters } from '../../app/scope.ts'

const phases = ['Pending', 'Scheduled', 'Running', 'Waiting', 'Succeeded', 'Failed', 'Cancelled']
const types = ['ai', 'agent', 'container']

function Choice({ name, label, values }: { name: string; label: string; values: string[] }) {
  const [parameters, change] = useParameters()
  const id = useId()
  return (
    <>
      <label htmlFor={id} className="visually-hidden">
        {label}
      </label>
      <select
        id={id}
        className="input"
        value={parameters.get(name) ?? ''}
        onChange={(event) => change({ [name]: event.target.value })}
      >
        <option value="">{label}: any</option>
        {values.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
    </>
  )
}

export function TaskFilters() {
  return (
    <>
      <Choice name="phase" label="State" values={phases} />
      <Choice name="type" label="Type" values={types} />
    </>
  )
}
