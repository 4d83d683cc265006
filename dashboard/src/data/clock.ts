// The time as the service has it: what it writes is compared with that, whatever the clock of this computer says.

/** The header counts whole seconds; less than this is no difference. */
const toleranceMs = 2000
let offsetMs = 0

/** Reads the `date` header of an answer that took its time on the way from `sentAt` to now. */
export function noteServiceTime(date: string | null, sentAt: number): void {
  const at = Date.parse(date ?? '')
  const heardAt = Date.now()
  // An answer that took long says too little of when it was written.
  if (Number.isNaN(at) || heardAt - sentAt > toleranceMs || heardAt < sentAt) return
  const difference = at + 500 - (sentAt + heardAt) / 2
  offsetMs = Math.abs(difference) < toleranceMs ? 0 : difference
}

/** Milliseconds since 1970. */
export function serviceNow(): number {
  return Date.now() + offsetMs
}
