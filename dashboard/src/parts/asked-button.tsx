// A button of what cannot be undone: it asks first, and is there only for those who may.
import { type ReactNode, useState } from 'react'
import type { Route } from '../../../src/contract/api/resources/route.ts'
import { Offered } from '../session/offered.tsx'
import { Button } from './button.tsx'
import { Confirm } from './dialog.tsx'

type AskedButtonProps = {
  /** The route that it calls. */
  to: Pick<Route, 'verb'>
  word: string
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
      <Button look={look} className={className} onClick={() => setAsking(true)}>
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
