import type { Tone } from '../../parts/badge.tsx'

export const severityTones: Record<string, Tone> = { critical: 'bad', high: 'bad', medium: 'warn', low: 'plain' }
