// Every page and command, found by a few letters (Ctrl K).
import { type KeyboardEvent, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { type Command, useCommands } from './commands.ts'
import './command-palette.css'

export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [index, setIndex] = useState(0)
  const found = useCommands(text)

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
        placeholder="A page, a task, a command"
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
