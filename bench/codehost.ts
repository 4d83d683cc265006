// The code host: deliveries of its webhook, and the inventory of a repository.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { measureRates } from './codehost-deliveries.ts'
import { run as measureInventory } from './codehost-inventory.ts'
import { measureCrash, measureReviewStarts, measureTaskStarts } from './codehost-starts.ts'
import { report } from './measure.ts'

/** The agent program. */
const programs = join(import.meta.dirname, '..', 'test', 'clients', 'node_modules', '.bin')

export async function run(): Promise<void> {
  const secret = randomBytes(24).toString('hex')
  process.env.SVC_CODEHOST_WEBHOOK_SECRET = secret
  process.env.SVC_CODEHOST_LABEL_TRIGGER_AGENT = 'builder'
  process.env.PATH = `${programs}:${process.env.PATH}`
  const starts = [await measureTaskStarts(secret), await measureReviewStarts(secret)]
  report('codehost: deliveries', [...starts, ...(await measureRates(secret)), await measureCrash(secret)])
  await measureInventory()
}
