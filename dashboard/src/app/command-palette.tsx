// Every page, command and object, found by a few letters (Ctrl K).
import { type KeyboardEvent, useEffect, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Foreign } from '../parts/foreign.tsx'
import type { Command } from './command.ts'
import { useCommands } from './commands.ts'
import './command-palette.css'

/** Nobody wants an answer for each letter. */
const restMs = 200

function useRested(text: string): string {
  const [rested, setRested] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), restMs)
    return () => clearTimeout(timer)
  }, [text])
  return rested
}

export function CommandPalette({ onClose, onKeys }: { onClose: () => void; onKeys: () => void }) {
  const [text, setText] = useState('')
  const [index, setIndex] = useState(0)
  const found = useCommands(text, useRested(text.trim()), onKeys)

  function run(command: Command | undefined): void {
    if (command === undefined) return
    onClose()
    command.run()
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'ArrowDown') setIndex(Math.min(index + 1, found.length - 1))
    else if (event.key === 'ArrowUp') setIndex(Math.max(index - 1, 0))
    else if (event.key === 'Enter') run(found[index])
    else return
    event.preventDefault()
  }

  return (
    <Dialog title="Search and commands" onClose={onClose}>
      <input
        className="input"
        dir="auto"
        role="combobox"
        aria-label="What are you looking for?"
        aria-expanded="true"
        aria-controls="palette-entries"
        aria-activedescendant={found[index] === undefined ? undefined : `palette-${index}`}
        placeholder="A page, a command, a name, words of a chat"
        autoFocus
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value)
          setIndex(0)
        }}
      />
      <div id="palette-entries" role="listbox" aria-label="Found" className="palette">
        {found.map((command, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the input has the focus and names the active one
          <div
            key={command.id}
            id={`palette-${at}`}
            role="option"
            aria-selected={at === index}
            onClick={() => run(command)}
          >
            <Foreign text={command.title} most={120} /> <span className="soft">{command.sort}</span>
          </div>
        ))}
        {found.length === 0 && <p className="soft">Nothing is called that.</p>}
      </div>
    </Dialog>
  )
}
