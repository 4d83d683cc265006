import { useState } from 'react'
import { Button } from './button.tsx'
import { sayFailure } from './toasts.tsx'

/** Puts the text on the clipboard; `what` it is, for those who hear the button. Not drawn where browsers forbid it: over plain HTTP. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [isCopied, setCopied] = useState(false)
  if (!window.isSecureContext) return null
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true), sayFailure)
  return (
    <Button look="plain" className="copy" aria-label={`Copy the ${what}`} onClick={() => void copy()}>
      {isCopied ? 'Copied' : 'Copy'}
    </Button>
  )
}
