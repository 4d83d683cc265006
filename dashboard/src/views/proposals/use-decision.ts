import { useMutation } from '@tanstack/react-query'
import {
  applyMemoryProposal,
  type MemoryProposal,
  reviewMemoryProposal,
} from '../../../../src/contract/api/memory/memory-proposals.ts'
import { api, queryClient } from '../../data/api.ts'
import { say, sayFailure } from '../../parts/toasts.tsx'

/** `applied`: it was accepted before, and is remembered now. */
type Decision = { status: 'accepted' | 'rejected' | 'applied'; content?: string | undefined }

async function carryOut({ namespace, id, type }: MemoryProposal, { status, content }: Decision): Promise<string> {
  const client = api()
  const place = { params: { id }, query: { namespace } }
  if (status !== 'applied') await client.call(reviewMemoryProposal, { ...place, body: { status } })
  if (status === 'rejected') return 'Rejected'
  if (type !== 'memory') return 'Accepted'
  await client.call(applyMemoryProposal, { ...place, body: content === undefined ? {} : { content } })
  return 'Remembered'
}

/** Accepting one of type `memory` remembers it at once; others stay accepted, for whoever makes the change. */
export function useDecision(proposal: MemoryProposal, onDecided: () => void) {
  const decision = useMutation({
    mutationFn: (wanted: Decision) => carryOut(proposal, wanted),
    onSuccess(word) {
      say(`${word}: ${proposal.title}`)
      onDecided()
    },
    onError: sayFailure,
    onSettled() {
      for (const kind of ['MemoryProposal', 'Memory'])
        void queryClient.invalidateQueries({ queryKey: ['records', kind] })
    },
  })
  return {
    accept: (content?: string) => decision.mutate({ status: 'accepted', content }),
    reject: () => decision.mutate({ status: 'rejected' }),
    remember: () => decision.mutate({ status: 'applied' }),
    isBusy: decision.isPending,
  }
}
