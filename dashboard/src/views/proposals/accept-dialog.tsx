import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { TextArea } from '../../parts/text-area.tsx'

type AcceptProps = { content: string; isBusy: boolean; onAccept: (content: string) => void; onClose: () => void }

export function AcceptDialog({ content, isBusy, onAccept, onClose }: AcceptProps) {
  const [text, setText] = useState(content)
  return (
    <Dialog title="Edit and accept" onClose={onClose} isWide>
      <div className="stack">
        <Field label="What is to be remembered" hint="The proposal keeps its own words.">
          {(control) => <TextArea {...control} rows={10} value={text} onText={setText} />}
        </Field>
      </div>
      <div className="dialog-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="main" busy={isBusy} disabled={text.trim() === ''} onClick={() => onAccept(text)}>
          Accept so
        </Button>
      </div>
    </Dialog>
  )
}
