// From which side pages are laid out: as the browser's language is written, unless somebody chose.
import { browserStore } from '../session/browser-store.ts'

export type Direction = 'ltr' | 'rtl'

const key = 'svc.direction'

/** Languages whose usual script runs from right to left (Unicode CLDR), by their codes. */
const rightToLeft = ['ar', 'arc', 'ckb', 'dv', 'fa', 'he', 'iw', 'ks', 'nqo', 'ps', 'sd', 'syr', 'ug', 'ur', 'yi']

export function directionOf(language: string): Direction {
  const [code = ''] = language.toLowerCase().split('-')
  return rightToLeft.includes(code) ? 'rtl' : 'ltr'
}

function chosen(): Direction | undefined {
  const kept = browserStore.get(key)
  return kept === 'ltr' || kept === 'rtl' ? kept : undefined
}

/** To be called before anything is drawn. */
export function applyDirection(): void {
  document.documentElement.dir = chosen() ?? directionOf(navigator.language)
}

export function isRightToLeft(): boolean {
  return document.documentElement.dir === 'rtl'
}

export function switchDirection(): void {
  browserStore.set(key, isRightToLeft() ? 'ltr' : 'rtl')
  applyDirection()
}
