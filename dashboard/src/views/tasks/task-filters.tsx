import { useId } from 'react'
import { taskPhases, taskTypes } from '../../../../src/contract/resources/task.ts'
import { useParameters } from '../../app/scope.ts'

function Choice({ name, label, values }: { name: string; label: string; values: readonly string[] }) {
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
      <Choice name="phase" label="State" values={taskPhases} />
      <Choice name="type" label="Type" values={taskTypes} />
    </>
  )
}
