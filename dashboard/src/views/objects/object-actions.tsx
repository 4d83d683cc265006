// Deleting an object, after a question.
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useScopedPath } from '../../app/scope.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'
import { deleteObject, type ObjectKind } from './object-kinds.ts'

export function DeleteButton({ of, place }: { of: ObjectKind; place: { namespace: string; name: string } }) {
  const [isAsking, setAsking] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const navigate = useNavigate()
  const scoped = useScopedPath()

  async function remove(): Promise<void> {
    setBusy(true)
    try {
      await deleteObject(of.path, place)
      say(`${place.name} is deleted`)
      void navigate(scoped(`/${of.path}`))
    } catch (error) {
      sayFailure(error)
      setAsking(false)
      setBusy(false)
    }
  }

  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        Delete
      </Button>
      {isAsking && (
        <Confirm
          title={`Delete this ${of.noun}?`}
          action={`Delete the ${of.noun}`}
          isBusy={isBusy}
          onConfirm={() => void remove()}
          onClose={() => setAsking(false)}
        >
          <p>
            <Foreign text={place.name} /> goes for good. {of.loss}
          </p>
        </Confirm>
      )}
    </>
  )
}
