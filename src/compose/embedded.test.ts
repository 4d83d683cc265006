import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { loadConfig } from '../config/load.ts'
import { openEmbedded } from './embedded.ts'

it('sweeps objects of git repositories beyond the size of their cache', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-cache-'))
  const packOf = (name: string) => join(dataDir, 'git/objects/repositories', name, 'objects/pack/pack-1.pack')
  const put = (name: string, bytes: number) => {
    mkdirSync(join(packOf(name), '..'), { recursive: true })
    writeFileSync(packOf(name), Buffer.alloc(bytes))
  }
  const config = loadConfig({ flags: { dataDir, gitCacheSize: '1Ki' }, env: { XDG_CONFIG_HOME: dataDir } })
  const { leftovers, ports } = await openEmbedded(config, pino({ level: 'silent' }))
  try {
    put('small', 1000)
    const removed = () => Promise.all(leftovers.map(({ run }) => run()))
    expect(await removed()).toEqual([0, 0])
    put('large', 2000)
    expect(await removed()).toEqual([0, 1])
    expect([existsSync(packOf('small')), existsSync(packOf('large'))]).toEqual([true, false])
  } finally {
    await ports.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
