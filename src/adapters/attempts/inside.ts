// What every program of an attempt finds inside, in a sandbox as in a pod.

/** Where the Node that runs us is found inside. */
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
