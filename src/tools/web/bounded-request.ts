// A call that ends in time, whatever the other side does, and says so when it was the time.
import type { Egress, EgressRequest, EgressResponse } from '../../ports/egress.ts'

/** The answer, or `timeout`. Throws what the egress throws. */
export async function requestWithin(
  egress: Egress,
  request: EgressRequest,
  signal: AbortSignal,
): Promise<EgressResponse | 'timeout'> {
  const timer = AbortSignal.timeout(request.timeoutMs)
  try {
    // The egress's own limit comes later, so that the cause is known here.
    return await egress.request({ ...request, timeoutMs: request.timeoutMs + 1000 }, AbortSignal.any([signal, timer]))
  } catch (error) {
    if (timer.aborted && !signal.aborted) return 'timeout'
    throw error
  }
}
