// Notices that the browser shows beside the page, to people who have asked for them.
import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()

/** `unsupported`: the browser has none, or not at this address. */
type NoticeState = NotificationPermission | 'unsupported'

function readState(): NoticeState {
  return typeof Notification === 'undefined' ? 'unsupported' : Notification.permission
}

export function useNoticeState(): NoticeState {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, readState)
}

/** The browser asks the person. */
export async function requestNotices(): Promise<void> {
  await Notification.requestPermission()
  for (const listener of listeners) listener()
}

/** `tag`: of several with the same one the last is shown, also from several tabs. */
export function showNotice(title: string, { body, tag }: { body: string; tag: string }): void {
  if (readState() === 'granted') new Notification(title, { body, tag })
}
