import { taskPhases, taskTypes } from '../../../../src/contract/resources/task.ts'
import { Choice } from '../../parts/choice.tsx'

export function TaskFilters() {
  return (
    <>
      <Choice name="phase" label="State" values={taskPhases} />
      <Choice name="type" label="Type" values={taskTypes} />
    </>
  )
}
