// A state in a word and a colour; the word alone says it as well.
import './badge.css'

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'plain'

const tones: Record<string, Tone> = {
  Succeeded: 'good',
  Ready: 'good',
  Healthy: 'good',
  Running: 'busy',
  Pending: 'warn',
  Waiting: 'warn',
  Scheduled: 'plain',
  Failed: 'bad',
  Error: 'bad',
  Cancelled: 'plain',
}

export function Badge({ tone, children }: { tone?: Tone; children: string }) {
  return (
    <span className="badge" data-tone={tone ?? tones[children] ?? 'plain'}>
      {children}
    </span>
  )
}
