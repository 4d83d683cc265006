// The pull request of the branch that the task has pushed: opened, or found where the branch has one.
import { openTaskPullRequest } from '../../../../src/contract/api/tasks/pull-requests.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { sayFailure } from '../../parts/toasts.tsx'
import { Offered } from '../../session/offered.tsx'
import { type TaskPlace, targetOf } from './place.ts'

export function TaskPullRequest({ place }: { place: TaskPlace }) {
  const open = useChange(openTaskPullRequest)
  if (open.data) return <OutsideLink to={open.data.prURL} />
  return (
    <Offered to={openTaskPullRequest}>
      <Button
        busy={open.isPending}
        onClick={() => open.mutate({ ...targetOf(place), body: {} }, { onError: sayFailure })}
      >
        Open pull request
      </Button>
    </Offered>
  )
}
