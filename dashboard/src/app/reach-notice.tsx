// Says in words when the service does not answer, and when it has another build of this page.
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useNavigation } from 'react-router'
import { isOutdated } from '../data/page-build.ts'
import { type Reach, reachState } from '../data/reach.ts'
import { Button } from '../parts/button.tsx'
import './reach-notice.css'

const words: Record<Exclude<Reach, 'here'>, string> = {
  away: 'The service cannot be reached. What is shown may be old; it goes on by itself when the service is back.',
  silent: 'The service does not answer. What is shown may be old; it goes on by itself when the service answers.',
}

/** Whether the service has another build, looked for whenever it was away. */
function useOutdated(): boolean {
  const [outdated, setOutdated] = useState(false)
  useEffect(() => reachState.onReturn(() => void isOutdated().then(setOutdated)), [])
  return outdated
}

export function ReachNotice() {
  const reach = useSyncExternalStore(reachState.subscribe, reachState.current)
  const outdated = useOutdated()
  return (
    <div className="reach-notice" role="status" data-shown={reach !== 'here' || outdated}>
      {reach !== 'here' && <p>{words[reach]}</p>}
      {reach === 'here' && outdated && (
        <>
          <p>The service was upgraded.</p>
          <Button onClick={() => window.location.reload()}>Load the new pages</Button>
        </>
      )}
    </div>
  )
}

/** A bar at the top while the next page is loaded. */
export function PageBar() {
  return useNavigation().state === 'idle' ? null : (
    <div className="page-bar" role="progressbar" aria-label="Loading the page" />
  )
}
