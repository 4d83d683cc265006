// A form that was changed and not saved is left only after a question.
import { useEffect } from 'react'
import { type BlockerFunction, useBlocker } from 'react-router'
import { Confirm } from './dialog.tsx'

/** The same page in another look (`as`) is not left. */
const isLeft: BlockerFunction = ({ currentLocation: from, nextLocation: to }) => {
  const tabOf = (search: string) => new URLSearchParams(search).get('tab')
  return from.pathname !== to.pathname || tabOf(from.search) !== tabOf(to.search)
}

/** `isUnsaved` is asked when somebody leaves. */
export function Unsaved({ isUnsaved }: { isUnsaved: () => boolean }) {
  const blocker = useBlocker((change) => isUnsaved() && isLeft(change))
  useEffect(() => {
    const onLeave = (event: BeforeUnloadEvent) => {
      if (isUnsaved()) event.preventDefault()
    }
    window.addEventListener('beforeunload', onLeave)
    return () => window.removeEventListener('beforeunload', onLeave)
  }, [isUnsaved])
  if (blocker.state !== 'blocked') return null
  return (
    <Confirm
      title="Leave without saving?"
      action="Leave"
      decline="Stay"
      onConfirm={() => blocker.proceed()}
      onClose={() => blocker.reset()}
    >
      <p>What you have changed here is lost.</p>
    </Confirm>
  )
}
