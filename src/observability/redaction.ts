// Cuts what has the shape of a credential out of text (SECRET-008): the second net, after redaction by known value.

const shapes: [RegExp, string][] = [
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 [REDACTED]'],
  [/\b(sk|rk|pk)-[A-Za-z0-9_-]{16,}/g, '[REDACTED]'],
  [/\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}/g, '[REDACTED]'],
  [/\bxox[abeprs]-[A-Za-z0-9-]{10,}/g, '[REDACTED]'],
  [/\bsvc_[A-Za-z0-9_-]{24,}/g, '[REDACTED]'],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g, '[REDACTED]'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^/\s:@"]+:[^/\s@"]+@/gi, '$1[REDACTED]@'],
]

const hint = /bearer|basic|[srp]k-|gh[pousr]_|github_pat_|xox|svc_|eyJ|:\/\//i

/** The text without credentials of well-known shapes; the same text when there are none. */
export function redactText(text: string): string {
  if (!hint.test(text)) return text
  return shapes.reduce((clean, [shape, replacement]) => clean.replace(shape, replacement), text)
}
