// A list, and beside it what is opened of it; the list stays as it is. On a narrow screen the panel takes the room of the list.
import { type ReactNode, useEffect, useRef } from 'react'
import { Button } from './button.tsx'
import { useKeys } from './keys.ts'
import { useMedia } from './media.ts'
import './side-panel.css'

type BesideProps = {
  /** What the panel is of, as it is read out. */
  label: string
  /** Undefined while nothing is opened. */
  panel: ReactNode | undefined
  onClose: () => void
  children: ReactNode
}

export function Beside({ label, panel, onClose, children }: BesideProps) {
  return (
    <div className="beside" data-open={panel !== undefined}>
      <div className="beside-list">{children}</div>
      {panel !== undefined && (
        <SidePanel label={label} onClose={onClose}>
          {panel}
        </SidePanel>
      )}
    </div>
  )
}

function SidePanel({ label, onClose, children }: { label: string; onClose: () => void; children: ReactNode }) {
  const element = useRef<HTMLElement>(null)
  const isNarrow = useMedia('(max-width: 820px)')
  useKeys({ Escape: onClose })
  // The list has the focus where it is in sight: its keys go on. Where it is not, they would act on what nobody sees.
  useEffect(() => {
    if (isNarrow) element.current?.focus()
  }, [isNarrow])
  return (
    <aside ref={element} className="card stack side-panel" aria-label={label} tabIndex={-1}>
      <div className="row side-panel-head">
        <span className="soft">{label}</span>
        <span className="grow" />
        <Button look="plain" className="small" aria-keyshortcuts="Escape" onClick={onClose}>
          {isNarrow ? 'Back to the list' : 'Close'} <kbd>Esc</kbd>
        </Button>
      </div>
      {children}
    </aside>
  )
}
