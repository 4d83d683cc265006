// Dials out for a user: every address checked when dialling, after DNS and for each redirect (NET-001).

export type EgressPolicy = {
  /** CIDRs that are allowed though private (`--allow-network`), plus those of a trusted base URL. */
  allowNetworks: string[]
  /** `host:port` of the service itself: never dialled. */
  deny: string[]
  /** From a Secret's annotation `svc.ai/allowed-hosts`: when present only these hosts (SECRET-006). */
  allowedHosts?: string[]
  /** The destination was set by the machine's owner: loopback and private addresses pass, metadata and `deny` never. */
  trusted?: boolean
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

export interface Egress {
  /** Forbidden when the address is refused, UpstreamFailed when it can not be reached, in words that name the host. */
  request(request: EgressRequest, signal: AbortSignal): Promise<EgressResponse>
  /** A `fetch` under the same policy for vendor SDKs and streams. Keeps connections alive. */
  fetchWith(policy: EgressPolicy): typeof globalThis.fetch
  close(): Promise<void>
}
