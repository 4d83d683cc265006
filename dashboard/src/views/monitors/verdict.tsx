import { Badge, type Tone } from '../../parts/badge.tsx'

const tones: Record<string, Tone> = {
  passed: 'good',
  needs_changes: 'warn',
  needs_human: 'warn',
  security_sensitive: 'bad',
  queued: 'busy',
  failed: 'bad',
}

/** What a review found, or how far it is. */
export function Verdict({ of }: { of: string | undefined }) {
  if (of === undefined) return <Badge>not reviewed</Badge>
  return <Badge tone={tones[of] ?? 'plain'}>{of.replaceAll('_', ' ')}</Badge>
}
