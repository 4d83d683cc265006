// What a run says while it waits for a provider: how long, and why.

/** Told before the wait begins. */
export type TellWait = (wait: { ms: number; why: string }) => void

/** Shorter ones nobody notices. */
const leastToldMs = 1000

/** `waiting 20 s: the vendor asked for it`; undefined when the wait is too short to speak of. */
export function describeWait({ ms, why }: Parameters<TellWait>[0]): string | undefined {
  return ms < leastToldMs ? undefined : `waiting ${Math.ceil(ms / 1000)} s: ${why}`
}
