// What every program of an attempt finds inside its sandbox or pod.

/** Path of Node inside. */
export const nodeInside = '/opt/node/bin/node'

export const workspaceInside = '/workspace'

export function baseEnvironment(home: string): Record<string, string> {
  return {
    PATH: '/opt/node/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: '/tmp',
  }
}
