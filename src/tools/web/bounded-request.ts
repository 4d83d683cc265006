// A request with a time limit that holds whatever the other side does, and is reported as such.
import type { Egress, EgressRequest, EgressResponse } from '../../ports/service/egress.ts'

/** The answer, or `timeout`. Throws the errors of the egress room. */
export async function requestWithin(
  egress: Egress,
  request: EgressRequest,
  signal: AbortSignal,
): Promise<EgressResponse | 'timeout'> {
  const timer = AbortSignal.timeout(request.timeoutMs)
  try {
    // The egress room's own limit is later, so that the cause is known here.
    return await egress.request({ ...request, timeoutMs: request.timeoutMs + 1000 }, AbortSignal.any([signal, timer]))
  } catch (error) {
    if (timer.aborted && !signal.aborted) return 'timeout'
    throw error
  }
}
