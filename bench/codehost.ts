// The code host: deliveries of its webhook.
import { measureDeliveries } from './codehost-deliveries.ts'
import { report } from './measure.ts'

export async function run(): Promise<void> {
  report('codehost: deliveries', await measureDeliveries())
}
