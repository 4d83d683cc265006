import type { Tone } from '../../parts/badge.tsx'

export const deliveryTones: Record<string, Tone> = { pending: 'busy', done: 'good', failed: 'bad', refused: 'bad' }
