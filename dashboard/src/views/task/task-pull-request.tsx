// The pull request of the branch that the task has pushed: opened, or found where the branch has one.
import { skipToken, useMutation, useQuery } from '@tanstack/react-query'
import type { RouteAnswer } from '../../../../src/contract/api/resources/route.ts'
import { openTaskPullRequest } from '../../../../src/contract/api/tasks/pull-requests.ts'
import { api, queryClient } from '../../data/api.ts'
import { Button } from '../../parts/button.tsx'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { sayFailure } from '../../parts/toasts.tsx'
import { Offered } from '../../session/offered.tsx'
import { type TaskPlace, targetOf } from './place.ts'

/** What was opened is kept beside the page, which is drawn anew when the task or its result is read again. */
export function TaskPullRequest({ place }: { place: TaskPlace }) {
  const key = ['opened', openTaskPullRequest.path, place.namespace, place.name]
  const opened = useQuery<RouteAnswer<typeof openTaskPullRequest>>({ queryKey: key, queryFn: skipToken })
  const open = useMutation({
    mutationFn: () => api().call(openTaskPullRequest, { ...targetOf(place), body: {} }),
    onSuccess: (answer) => queryClient.setQueryData(key, answer),
    onError: sayFailure,
  })
  if (opened.data) return <OutsideLink to={opened.data.prURL} />
  return (
    <Offered to={openTaskPullRequest}>
      <Button busy={open.isPending} onClick={() => open.mutate()}>
        Open pull request
      </Button>
    </Offered>
  )
}
