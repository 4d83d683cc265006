import { useMutation } from '@tanstack/react-query'
import {
  applyMemoryProposal,
  archiveMemoryProposal,
  type MemoryProposal,
  reviewMemoryProposal,
} from '../../../../src/contract/api/memory/memory-proposals.ts'
import { api, queryClient } from '../../data/api.ts'
import { say, sayFailure } from '../../parts/toasts.tsx'

/** `applied`: it was accepted before, and is remembered now. */
type Decision = { status: 'accepted' | 'rejected' | 'applied' | 'archived'; content?: string | undefined }

async function carryOut({ namespace, id, type }: MemoryProposal, { status, content }: Decision): Promise<string> {
  const client = api()
  const place = { params: { id }, query: { namespace } }
  if (status === 'archived') {
    await client.call(archiveMemoryProposal, place)
    return 'Archived'
  }
  if (status !== 'applied') await client.call(reviewMemoryProposal, { ...place, body: { status } })
  if (status === 'rejected') return 'Rejected'
  if (type !== 'memory') return 'Accepted'
  await client.call(applyMemoryProposal, { ...place, body: content === undefined ? {} : { content } })
  return 'Remembered'
}

/** A rejection is taken back by deciding anew. */
async function takeBack({ namespace, id }: MemoryProposal): Promise<void> {
  await api().call(reviewMemoryProposal, { params: { id }, query: { namespace }, body: { status: 'pending' } })
}

function readAgain(): void {
  for (const kind of ['MemoryProposal', 'Memory']) void queryClient.invalidateQueries({ queryKey: ['records', kind] })
}

/** Accepting one of type `memory` remembers it at once; others stay accepted, for whoever makes the change. */
export function useDecision(proposal: MemoryProposal, onDecided: () => void) {
  const reopening = useMutation({
    mutationFn: () => takeBack(proposal),
    onSuccess: () => say(`To be decided again: ${proposal.title}`),
    onError: sayFailure,
    onSettled: readAgain,
  })
  const decision = useMutation({
    mutationFn: (wanted: Decision) => carryOut(proposal, wanted),
    onSuccess(word, { status }) {
      const undo = { word: 'Undo', run: () => reopening.mutate() }
      say(`${word}: ${proposal.title}`, status === 'rejected' ? undo : undefined)
      onDecided()
    },
    onError: sayFailure,
    onSettled: readAgain,
  })
  return {
    accept: (content?: string) => decision.mutate({ status: 'accepted', content }),
    reject: () => decision.mutate({ status: 'rejected' }),
    archive: () => decision.mutate({ status: 'archived' }),
    remember: () => decision.mutate({ status: 'applied' }),
    isBusy: decision.isPending,
  }
}
