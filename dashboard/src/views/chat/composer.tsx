// Where one types. Enter sends, Shift+Enter begins a line, Escape stops the answer; what is typed meanwhile stays.
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from '../../parts/button.tsx'

type ComposerProps = {
  isRunning: boolean
  onSend: (message: string) => void
  onStop: () => void
  choice: ReactNode
}

const mostLines = 12

export function Composer({ isRunning, onSend, onStop, choice }: ComposerProps) {
  const [text, setText] = useState('')
  const area = useRef<HTMLTextAreaElement>(null)
  // On a telephone its keyboard would cover the conversation.
  useEffect(() => {
    if (window.matchMedia('(pointer: fine)').matches) area.current?.focus()
  }, [])

  function send(): void {
    if (isRunning || text.trim() === '') return
    setText('')
    onSend(text)
    area.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent): void {
    // Enter ends the composition of a character first.
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && isRunning) onStop()
    else if (event.key === 'Enter' && !event.shiftKey) send()
    else return
    event.preventDefault()
  }

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        ref={area}
        className="input"
        aria-label="Message"
        aria-describedby="composer-keys"
        placeholder="Ask for something"
        dir="auto"
        rows={Math.min(mostLines, Math.max(2, text.split('\n').length))}
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="composer-end">
        {choice}
        <span id="composer-keys" className="soft keys">
          <kbd>Enter</kbd> sends · <kbd>Shift Enter</kbd> a new line{isRunning && ' · '}
          {isRunning && <kbd>Esc</kbd>}
          {isRunning && ' stops'}
        </span>
        {isRunning ? (
          <Button look="danger" onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button type="submit" look="main" disabled={text.trim() === ''}>
            Send
          </Button>
        )}
      </div>
    </form>
  )
}
