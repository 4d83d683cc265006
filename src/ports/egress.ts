// Dials out for a user: every address checked when dialling, after DNS and for each redirect (NET-001).
import type { SvcError } from '../errors.ts'

export type EgressPolicy = {
  /** CIDRs that are allowed though private (`--allow-network`), plus those of a trusted base URL. */
  allowNetworks: string[]
  /** `host:port` of the service itself: never dialled. */
  deny: string[]
  /** From a Secret's annotation `svc.ai/allowed-hosts`: when present only these hosts (SECRET-006). */
  allowedHosts?: string[]
  /**
   * The one origin (`http://host:port`) that the machine's owner vouches for: it may be at a loopback or private address,
   * metadata and `deny` never. A redirect elsewhere is judged like any address.
   */
  trusted?: string
}

export type EgressRequest = {
  url: string
  method: string
  headers?: Record<string, string>
  body?: string
  /** Bytes read at most; the rest is dropped and `truncated` set. */
  maxBytes: number
  timeoutMs: number
  /** Redirects followed at most, each checked anew; credentials are dropped when the origin changes. */
  maxRedirects: number
  policy: EgressPolicy
}

export type EgressResponse = {
  /** After redirects. */
  url: string
  status: number
  headers: Record<string, string>
  body: Buffer
  truncated: boolean
}

/** One request of a pipe, as it goes on the wire. */
export type PipeRequest = {
  method: string
  /** Path and query. */
  path: string
  /** Names and values in turn. Host, length and connection headers are the pipe's own. */
  headers: string[]
  body?: Buffer
  /** Lets go of the body once it is written: for answers that take longer than their question is worth keeping. */
  dropsBody?: boolean
}

/** Where the answer to a request of a pipe goes, as it arrives. Called one after another; after `fail` or `end` nothing comes. */
export interface PipeSink {
  head(status: number, headers: Record<string, string | string[] | undefined>): void
  /** False: nothing more is read until `resume`. */
  data(chunk: Buffer): boolean
  end(): void
  /** As for `request`. `retry`: the connection was given up by the other side before a byte of an answer came. */
  fail(error: SvcError, retry: boolean): void
}

export type PipeControl = {
  /** Closes the connection at once; the sink is not told. */
  abort(): void
  resume(): void
}

/** Bytes to one origin over connections that are kept and shared. */
export interface BytePipe {
  send(request: PipeRequest, sink: PipeSink): PipeControl
}

export interface Egress {
  /** A pipe to the origin of `url`. Throws as `request` does for a URL that may not be asked for. */
  openPipe(url: string, policy: EgressPolicy): Promise<BytePipe>
  /** Forbidden when the address is refused, UpstreamFailed when it cannot be reached, in words that name the host. */
  request(request: EgressRequest, signal: AbortSignal): Promise<EgressResponse>
  /** A `fetch` under the same policy for vendor SDKs and streams. Keeps connections alive. */
  fetchWith(policy: EgressPolicy): typeof globalThis.fetch
  close(): Promise<void>
}
