// A modal window, and a question before something that cannot be undone.
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from './button.tsx'
import { Foreign } from './foreign.tsx'
import './dialog.css'

type DialogProps = { title: string; onClose: () => void; isWide?: boolean; children: ReactNode }

/** Open as long as it is drawn. Escape, and a click beside it, close it. */
export function Dialog({ title, onClose, isWide = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    element.current?.showModal()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does what the click beside it does
    <dialog
      ref={element}
      className="dialog"
      data-wide={isWide}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <h2 id={id}>
        <Foreign text={title} most={200} />
      </h2>
      {children}
    </dialog>
  )
}

type ConfirmProps = {
  title: string
  /** The word on the button: what will be done. */
  action: string
  /** The word of the button that leaves everything as it is. */
  decline?: string
  look?: 'danger' | 'main'
  /** Whether all is filled in that it needs. */
  isReady?: boolean
  isBusy?: boolean
  onConfirm: () => void
  onClose: () => void
  children: ReactNode
}

export function Confirm({
  title,
  action,
  decline = 'Keep it',
  look = 'danger',
  isReady = true,
  isBusy = false,
  onConfirm,
  onClose,
  children,
}: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="stack">{children}</div>
      <div className="dialog-end">
        <Button onClick={onClose}>{decline}</Button>
        <Button look={look} busy={isBusy} disabled={!isReady} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}

type FormEndProps = { action: string; isBusy?: boolean; isReady?: boolean; onClose: () => void }

/** The end of a form in a dialog. */
export function FormEnd({ action, isBusy = false, isReady = true, onClose }: FormEndProps) {
  return (
    <div className="dialog-end">
      <Button onClick={onClose}>Cancel</Button>
      <Button type="submit" look="main" busy={isBusy} disabled={!isReady}>
        {action}
      </Button>
    </div>
  )
}
