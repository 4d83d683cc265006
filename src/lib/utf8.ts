// Cuts bytes and texts between characters, never within one.

/** Whether a byte continues a UTF-8 character that started before it. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0 && lead < 0xf8) return 4
  if (lead >= 0xe0) return lead < 0xf0 ? 3 : 1
  return lead >= 0xc0 ? 2 : 1
}

/** How many bytes at the end belong to an incomplete character. */
function countPartialTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]
    if (isContinuation(byte)) continue
    return sequenceLength(byte ?? 0) > back ? back : 0
  }
  return 0
}

/**
 * Drops incomplete characters at both ends of a window into a file; keeps everything if nothing complete would be left.
 */
export function trimPartialCharacters(
  bytes: Buffer,
  window: { startsInside: boolean; endsInside: boolean },
): { bytes: Buffer; skipped: number } {
  let skipped = 0
  while (window.startsInside && skipped < 3 && isContinuation(bytes[skipped])) skipped += 1
  const tail = window.endsInside ? countPartialTail(bytes) : 0
  if (skipped + tail >= bytes.length) return { bytes, skipped: 0 }
  return { bytes: bytes.subarray(skipped, bytes.length - tail), skipped }
}

/** The first characters of a text that fit into `maxBytes` of UTF-8. */
export function headOfText(text: string, maxBytes: number): { text: string; dropped: number } {
  if (Buffer.byteLength(text) <= maxBytes) return { text, dropped: 0 }
  const bytes = Buffer.from(text)
  const head = bytes.subarray(0, maxBytes)
  const whole = head.subarray(0, head.length - countPartialTail(head))
  return { text: whole.toString('utf8'), dropped: bytes.length - whole.length }
}
