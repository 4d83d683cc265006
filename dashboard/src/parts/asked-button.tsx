// Buttons of what cannot be undone: they ask first, and are there only for those who may.
import { type ReactNode, useState } from 'react'
import type { CallInput } from '../../../src/client/client.ts'
import type { Route } from '../../../src/contract/api/resources/route.ts'
import { type RecordSort, useChange } from '../data/records.ts'
import { Offered } from '../session/offered.tsx'
import { Button } from './button.tsx'
import { Confirm } from './dialog.tsx'
import { sayFailure } from './toasts.tsx'

type AskedButtonProps = {
  /** The route that it calls. */
  to: Pick<Route, 'verb'>
  word: string
  /** What it is called where the word does not say of what. */
  label?: string
  look?: 'danger' | 'plain'
  className?: string
  /** The question, the word of its answer, and what is lost. */
  title: string
  action: string
  decline?: string
  children: ReactNode
  isBusy: boolean
  /** Calls back when it is done with, however that ended. */
  onConfirm: (close: () => void) => void
}

export function AskedButton({
  to,
  word,
  label,
  look,
  className,
  title,
  action,
  decline,
  children,
  isBusy,
  onConfirm,
}: AskedButtonProps) {
  const [isAsking, setAsking] = useState(false)
  const close = () => setAsking(false)
  return (
    <Offered to={to}>
      <Button look={look} className={className} aria-label={label} onClick={() => setAsking(true)}>
        {word}
      </Button>
      {isAsking && (
        <Confirm
          title={title}
          action={action}
          decline={decline}
          isBusy={isBusy}
          onConfirm={() => onConfirm(close)}
          onClose={close}
        >
          {children}
        </Confirm>
      )}
    </Offered>
  )
}

type AskedChangeProps<R extends Route> = Omit<AskedButtonProps, 'to' | 'isBusy' | 'onConfirm'> & {
  to: R
  input: CallInput<R>
  /** Of the records that change. */
  sort?: RecordSort
  onDone: () => void
}

/** The same for one call of the service. */
export function AskedChange<R extends Route>({ to, input, sort, onDone, ...asked }: AskedChangeProps<R>) {
  const { mutate, isPending } = useChange(to, ...(sort === undefined ? [] : [sort]))
  const run = (close: () => void) => mutate(input, { onSuccess: onDone, onError: sayFailure, onSettled: close })
  return <AskedButton {...asked} to={to} isBusy={isPending} onConfirm={run} />
}
