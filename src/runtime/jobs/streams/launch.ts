// How a command's stdout and stderr are kept apart on a cluster, whose log of a container is both in one (ADR 30): the
// command writes into two pipes of a volume, and a sidecar makes of them one log of marked lines. Here these lines
// become the two streams again.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Helper, hardenedContainer, makeHelperResources } from '../hardening.ts'
import type { LogLinePart } from '../log-stream.ts'
import type { Pod } from '../objects.ts'
import { streamsName } from '../objects.ts'
import { endings, marks } from './tagger.ts'

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
function makeSidecar({ image, limits }: Helper, asWritten: (text: string) => string, logBytes: number) {
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
    resources: makeHelperResources(limits, logBytes),
    securityContext: hardenedContainer,
  }
}

/** What a pod has more, so that the two streams of its command stay apart; `asWritten` keeps the kubelet from expanding texts. */
export function separateStreams(helper: Helper, asWritten: (text: string) => string, logBytes: number) {
  return {
    launcher: launcher.map(asWritten),
    sidecars: [makeSidecar(helper, asWritten, logBytes)],
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

/** Bytes of a stream, without marks. */
export type LogRecord = {
  stamp: bigint
  stream: 'stdout' | 'stderr'
  bytes: Buffer
  /** The stream ended here, without a line feed. */
  isCutOff: boolean
}

export type RecordReader = {
  /** What of the part belongs to a stream, or undefined; `over` at the end of both. */
  take(part: LogLinePart): LogRecord | 'over' | undefined
}

const markLength = 2
const streams: Record<string, LogRecord['stream']> = { [marks.stdout]: 'stdout', [marks.stderr]: 'stderr' }

/** A log without marks is one stream. */
export function createPlainReader(): RecordReader {
  return { take: ({ stamp, bytes }) => ({ stamp, stream: 'stdout', bytes, isCutOff: false }) }
}

/** What has no mark is the kubelet's own word, such as that a file is gone. */
function readRecord(mark: string, part: LogLinePart): LogRecord | undefined {
  const { stamp, bytes, isEnd } = part
  const [first = '', ending] = mark
  const stream = streams[first]
  if (stream === undefined || ending === undefined) return undefined
  // The line feed of a line that had none is the tagger's.
  const isForeign = isEnd && ending !== endings.line
  return {
    stamp,
    stream,
    bytes: isForeign ? bytes.subarray(0, -1) : bytes,
    isCutOff: isEnd && ending === endings.cutOff,
  }
}

export function createRecordReader(): RecordReader {
  let line: { stamp: bigint; mark: string } | undefined

  /** A line that the log lost the end of is over where another begins. */
  function findLine(stamp: bigint) {
    if (line?.stamp !== stamp) line = { stamp, mark: '' }
    return line
  }

  return {
    take(part) {
      const present = findLine(part.stamp)
      const missing = markLength - present.mark.length
      present.mark += part.bytes.toString('latin1', 0, missing)
      if (part.isEnd) line = undefined
      if (present.mark.startsWith(marks.over)) return part.isEnd ? 'over' : undefined
      return readRecord(present.mark, { ...part, bytes: part.bytes.subarray(missing) })
    },
  }
}
