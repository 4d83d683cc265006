// Shows alerts that are raised while the dashboard is open as notices of the browser.
import { useEffect, useRef, useState } from 'react'
import { listAlerts } from '../../../src/contract/api/budgets/alerts.ts'
import { useSum } from '../data/sums.ts'
import { showNotice, useNoticeState } from '../parts/browser-notices.ts'
import { useMay } from '../session/caller.ts'

const titles = { budget: 'Budget', approval: 'Needs approval' }

/** For whoever may read them and has asked for notices. */
export function AlertNotices() {
  const state = useNoticeState()
  return useMay(listAlerts) && state === 'granted' ? <Shown /> : null
}

function Shown() {
  const [since] = useState(() => new Date().toISOString())
  const shown = useRef(new Set<string>())
  const alerts = useSum(['Budget'], listAlerts, { query: { since } })
  useEffect(() => {
    for (const { id, kind, message } of alerts.data?.items ?? []) {
      if (shown.current.has(id)) continue
      shown.current.add(id)
      showNotice(titles[kind], { body: message, tag: id })
    }
  }, [alerts.data])
  return null
}
