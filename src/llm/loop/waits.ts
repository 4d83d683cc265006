// What a run reports while it waits for a provider: how long, and why.

/** Called before the wait starts. */
export type TellWait = (wait: { ms: number; why: string }) => void

/** Nobody notices shorter ones. */
const leastToldMs = 1000

/** `waiting 20 s: the vendor asked for it`; undefined when the wait is too short to mention. */
export function describeWait({ ms, why }: Parameters<TellWait>[0]): string | undefined {
  return ms < leastToldMs ? undefined : `waiting ${Math.ceil(ms / 1000)} s: ${why}`
}
