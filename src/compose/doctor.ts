// The doctor, with what the service would use on this machine, or what the running one does.
import type { Client } from '../client/client.ts'
import type { DoctorFinding } from '../client/machine.ts'
import type { Config } from '../config/load.ts'
import { listAgentPrograms } from '../contract/api/service/agent-programs.ts'
import { describeAgentPrograms } from '../rules/agents/programs.ts'
import { probeBubblewrap } from '../runtime/local/confinement/bubblewrap.ts'
import { diagnose, type FoundAgents } from '../upkeep/doctor.ts'
import { openAgentPrograms } from './agent-programs.ts'
import { openEngine } from './embedded-work.ts'
import { workspaceSizeOf } from './scratch.ts'

type Examined = {
  platform?: NodeJS.Platform
  /** Of the service that runs. */
  client?: Client | undefined
}

/** A service that runs has another PATH than this shell, and one of an older version cannot be asked. */
async function findAgents(config: Config, { platform, client }: Examined): Promise<FoundAgents> {
  const asked = await client?.call(listAgentPrograms).catch(() => undefined)
  if (asked !== undefined) return { by: client?.url, programs: asked.items }
  return { programs: await describeAgentPrograms(openAgentPrograms(config, probeBubblewrap({ platform }))) }
}

export async function diagnoseMachine(config: Config, examined: Examined = {}): Promise<DoctorFinding[]> {
  const { platform = process.platform } = examined
  const agents = await findAgents(config, examined)
  return diagnose(config, { platform, engine: openEngine(config), workspaceSize: workspaceSizeOf(config), agents })
}
