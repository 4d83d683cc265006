import { Button } from '../../parts/button.tsx'

type StaleNoticeProps = { noun: string; onTheirs: () => void; onMine: () => void }

/** Somebody else has saved: nothing of theirs is overwritten unless it is meant. */
export function StaleNotice({ noun, onTheirs, onMine }: StaleNoticeProps) {
  return (
    <div className="notice stack" role="alert">
      <p>
        <strong>Somebody else has changed this {noun} since you opened it.</strong> Nothing of yours is saved yet. Load
        what they saved and make your changes again, or replace theirs with yours.
      </p>
      <div className="row">
        <Button onClick={onTheirs}>Load theirs</Button>
        <Button look="danger" onClick={onMine}>
          Replace theirs
        </Button>
      </div>
    </div>
  )
}
