// How a command's stdout and stderr are kept apart on a cluster, whose log of a container is both in one (ADR 30): the command
// writes into two pipes of a volume, and a sidecar makes of them one log of marked lines.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { hardenContainer } from '../hardening.ts'
import { streamsName } from '../names.ts'
import type { Pod } from '../objects.ts'

const volumeName = 'streams'
const folder = '/run/svc/streams'

/** For a shell with its libraries: 4 MB. */
const folderBytes = 16 * 1024 ** 2

/** In the message of a container whose program could not be started. */
export const notStarted = 'svc: not started'

/**
 * Any image will do, so the shell is brought along, with its loader and libraries. It is bash, since others drop variables
 * with a dot or a hyphen in their name.
 */
const prepareScript = [
  `set -e; cd ${folder}`,
  'if ! [ -p err ]; then bash=$(command -v bash)',
  `for file in "$bash" $(ldd "$bash" | grep -o '/[^ ]*'); do cp -L "$file" .; done`,
  'mv ld* ld; mkfifo -m 600 out err; fi',
  'exec node --max-semi-space-size=1 --max-old-space-size=32 --input-type=module -e "$0"',
].join('; ')

const isReadyScript = `until [ -p ${folder}/err ]; do sleep 0.02; done`

/** The shell becomes the command: its end and signals are the command's own. */
const launchScript = [
  `exec >${folder}/out 2>${folder}/err`,
  'shopt -s execfail',
  'exec "$@"',
  'code=$?',
  `echo '${notStarted}' >/dev/termination-log`,
  'exit $code',
].join('\n')

/** In front of a command. */
const launcher = [`${folder}/ld`, '--library-path', folder, `${folder}/bash`, '-p', '-c', launchScript, 'svc']

/** As it lies beside this file: with types where the service runs from its sources, which Node strips. */
function readTagger(): string[] {
  const isSource = import.meta.url.endsWith('.ts')
  const file = fileURLToPath(new URL(isSource ? './tagger.ts' : './tagger.js', import.meta.url))
  const program = `${readFileSync(file, 'utf8')}\ntagStreams('${folder}')\n`
  const script = isSource ? prepareScript.replace('=module ', '=module-typescript ') : prepareScript
  return ['/bin/sh', '-c', script, program]
}

let taggerCommand: string[] | undefined

/** Starts before the command and is ended by the kubelet after it. */
function makeSidecar(image: string, asWritten: (text: string) => string, logBytes: number) {
  taggerCommand ??= readTagger()
  return {
    name: streamsName,
    image,
    imagePullPolicy: 'IfNotPresent',
    restartPolicy: 'Always',
    command: taggerCommand.map(asWritten),
    // The command is not started before this has ended.
    lifecycle: { postStart: { exec: { command: ['/bin/sh', '-c', isReadyScript] } } },
    volumeMounts: [{ name: volumeName, mountPath: folder }],
    resources: {
      requests: { cpu: '5m', memory: '32Mi', 'ephemeral-storage': '0' },
      limits: { cpu: '500m', memory: '128Mi', 'ephemeral-storage': String(logBytes) },
    },
    securityContext: hardenContainer,
  }
}

/** What a pod has more, so that the two streams of its command stay apart; `asWritten` keeps the kubelet from expanding texts. */
export function separateStreams(image: string, asWritten: (text: string) => string, logBytes: number) {
  return {
    launcher: launcher.map(asWritten),
    sidecars: [makeSidecar(image, asWritten, logBytes)],
    // A pipe can be written to all the same.
    mounts: [{ name: volumeName, mountPath: folder, readOnly: true }],
    // Memory, which is the sidecar's: pipes work there under any runtime.
    volumes: [{ name: volumeName, emptyDir: { medium: 'Memory', sizeLimit: String(folderBytes) } }],
  }
}

/** Whether its log is in marked lines, in the sidecar. */
export function hasSeparateStreams(pod: Pod): boolean {
  return pod.spec?.initContainers?.some(({ name }) => name === streamsName) ?? false
}
