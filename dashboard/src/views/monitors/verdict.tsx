import { Badge, type Tone } from '../../parts/badge.tsx'
import { spellOut } from '../../parts/visible-text.ts'

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
  return <Badge tone={tones[of] ?? 'plain'}>{spellOut(of)}</Badge>
}
