// Short notes of what was done or failed, with a way to undo it where there is one.
import { useSyncExternalStore } from 'react'
import { messageOf } from '../../../src/errors.ts'
import { sessions } from '../session/session.ts'
import { Button } from './button.tsx'
import { Foreign } from './foreign.tsx'
import './toasts.css'

type Toast = { id: number; tone: 'good' | 'bad'; text: string; undo?: { word: string; run: () => void } }

let toasts: Toast[] = []
let count = 0
const listeners = new Set<() => void>()
const shownMs = 8000

function change(next: Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

sessions.onOtherCaller(() => change([]))

function dismiss(id: number): void {
  change(toasts.filter((toast) => toast.id !== id))
}

function show(toast: Omit<Toast, 'id'>): void {
  const id = ++count
  change([...toasts.slice(-3), { id, ...toast }])
  // Failures stay until they are read.
  if (toast.tone === 'good') setTimeout(() => dismiss(id), shownMs)
}

export function say(text: string, undo?: Toast['undo']): void {
  show({ tone: 'good', text, ...(undo && { undo }) })
}

export function sayFailure(error: unknown): void {
  show({ tone: 'bad', text: messageOf(error) })
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, tone, text, undo }) => (
        <div key={id} className="toast" data-tone={tone}>
          <div>
            <Foreign text={text} most={500} />
          </div>
          {undo !== undefined && (
            <Button
              look="plain"
              onClick={() => {
                undo.run()
                dismiss(id)
              }}
            >
              {undo.word}
            </Button>
          )}
          <Button look="plain" aria-label="Dismiss" onClick={() => dismiss(id)}>
            ✕
          </Button>
        </div>
      ))}
    </div>
  )
}
