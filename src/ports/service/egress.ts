// Dials out for a user: every address is checked when dialling, after DNS and for each redirect (NET-001).
import type { SvcError } from '../../errors.ts'

export type EgressPolicy = {
  /** CIDRs that are allowed although private (`--allow-network`), plus those of a trusted base URL. */
  allowNetworks: string[]
  /** `host:port` of the service itself, which is never dialled. */
  deny: string[]
  /** From a Secret's annotation `svc.ai/allowed-hosts`; when present, only these hosts are allowed (SECRET-006). */
  allowedHosts?: string[]
  /**
   * The one origin (`http://host:port`) that the machine's owner vouches for: it may have a loopback or private
   * address, but never a metadata address or one in `deny`. A redirect to another origin is judged like any address.
   */
  trusted?: string
  /**
   * Origin of a router (`http://host:port`) that the machine's owner vouches for, as for `trusted`: every connection goes
   * there, and the host of the URL only tells the router for whom the request is.
   */
  via?: string
}

export type EgressRequest = {
  url: string
  method: string
  headers?: Record<string, string>
  body?: string
  /** Upper limit of bytes to read; the rest is dropped and `truncated` is set. */
  maxBytes: number
  timeoutMs: number
  /** Upper limit of redirects, each checked again; credentials are dropped when the origin changes. */
  maxRedirects: number
  policy: EgressPolicy
}

export type EgressResponse = {
  /** The final URL, after redirects. */
  url: string
  status: number
  headers: Record<string, string>
  body: Buffer
  truncated: boolean
}

/** One request through a pipe, as it goes on the wire. */
export type PipeRequest = {
  method: string
  /** Path and query. */
  path: string
  /** Names and values alternate. The pipe itself sets Host, length and connection headers. */
  headers: string[]
  body?: Buffer
  /** Frees a long body once it is written, for answers that take long. The request can then not be repeated. */
  dropsBody?: boolean
}

/**
 * Receives the answer to a request of a pipe as it arrives. Calls come one after another; none follows `fail` or `end`.
 */
export interface PipeSink {
  head(status: number, headers: Record<string, string | string[] | undefined>): void
  /** False: nothing more is read until `resume`. */
  data(chunk: Buffer): boolean
  end(): void
  /** Errors as for `request`. `retry`: the other side closed the connection before the first byte of an answer. */
  fail(error: SvcError, retry: boolean): void
}

export type PipeControl = {
  /** Closes the connection at once, without a call to the sink. */
  abort(): void
  resume(): void
}

/** Sends bytes to one origin over shared connections that are kept alive. */
export interface BytePipe {
  send(request: PipeRequest, sink: PipeSink): PipeControl
}

export interface Egress {
  /** A pipe to the origin of `url`. Throws as `request` does when the URL is not allowed. */
  openPipe(url: string, policy: EgressPolicy): Promise<BytePipe>
  /** Forbidden when the address is refused; UpstreamFailed, with the host's name, when it cannot be reached. */
  request(request: EgressRequest, signal: AbortSignal): Promise<EgressResponse>
  /** A `fetch` under the same policy for vendor SDKs and streams. Keeps connections alive. */
  fetchWith(policy: EgressPolicy): typeof globalThis.fetch
  close(): Promise<void>
}
