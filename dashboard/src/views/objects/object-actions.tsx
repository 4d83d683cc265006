// Deleting an object, after a question.
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { AskedButton } from '../../parts/asked-button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { useScopedPath } from '../../parts/scope.ts'
import { say, sayFailure } from '../../parts/toasts.tsx'
import { deleteObject, type ObjectKind, routesOf } from './object-kinds.ts'

export function DeleteButton({ of, place }: { of: ObjectKind; place: { namespace: string; name: string } }) {
  const [isBusy, setBusy] = useState(false)
  const navigate = useNavigate()
  const scoped = useScopedPath()

  async function remove(close: () => void): Promise<void> {
    setBusy(true)
    try {
      await deleteObject(of.path, place)
      say(`${place.name} is deleted`)
      void navigate(scoped(`/${of.path}`))
    } catch (error) {
      sayFailure(error)
      close()
      setBusy(false)
    }
  }

  return (
    <AskedButton
      to={routesOf(of.path).remove}
      word="Delete"
      look="danger"
      title={`Delete this ${of.noun}?`}
      action={`Delete the ${of.noun}`}
      isBusy={isBusy}
      onConfirm={(close) => void remove(close)}
    >
      <p>
        <Foreign text={place.name} /> goes for good. {of.loss}
      </p>
    </AskedButton>
  )
}
