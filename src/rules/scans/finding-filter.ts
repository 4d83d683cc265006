// Findings that are true to the file and still none: kinds of report that reviewers make without a weakness behind them.
// Keyword rules over what the finding itself says; the first that applies names the reason. Text of a repository and of
// policies has no part in it.
import { looksLikeTest } from './file-facts.ts'
import type { VerifiedFinding } from './finding-drafts.ts'
import { baseNameOf, endingOf } from './tree-paths.ts'

type Texts = {
  /** Everything it says, in lower case, without punctuation. */
  all: string
  /** How it is classified: title, category, summary and triage. */
  classification: string
  paths: string[]
  /** The code that it quotes, as it is. */
  code: string
}

type Rule = {
  reason: string
  applies(texts: Texts): boolean
  /** Words with which it stays. */
  unless?: RegExp
}

const sensitive =
  /\b(password|passphrase|credential|secret|private key|api key|signing key|access token|session (id|token|cookie)|bearer token|personal data|pii|card number)s?\b/
const boundary =
  /\b(tenant|auth\w*|unauthenticated|login|password|token|otp|session|billing|payment|money|balance|account|cluster|privileged?|admin\w*|outage|every(one| user)|all (users|customers))s?\b/
const exploit =
  /\b(attacker|exploit\w*|bypass\w*|inject(s|ed|ing)?|steal|stolen|forge[ds]?|hijack\w*|take over|takeover|takes over|unauthenticated|untrusted|traversal|impersonat\w*|exfiltrat\w*|escalat\w*|arbitrary|any caller|anyone|anybody|strangers?|other (users?|tenants?|people))\b/

const isDocument = (path: string) =>
  /^(md|mdx|rst|adoc|txt)$/.test(endingOf(path)) ||
  /^(readme|changelog|contributing|license|security)(\.|$)/i.test(baseNameOf(path)) ||
  /(^|\/)docs?\//i.test(path)
const isShell = (path: string) =>
  /^(sh|bash|zsh|ksh|mk|ya?ml)$/.test(endingOf(path)) || /^(makefile|dockerfile)/i.test(baseNameOf(path))

const unsafeSink =
  /dangerouslysetinnerhtml|innerhtml|outerhtml|insertadjacenthtml|document\.write|srcdoc|\beval\b|javascript:|createcontextualfragment|v-html|bypasssecuritytrust/i

const rules: Rule[] = [
  {
    reason: 'docs-only finding without runtime behavior',
    applies: ({ paths, classification }) =>
      paths.every(isDocument) ||
      /\b(docs?|documentation|readme|comment) only\b|\bonly (in|affects) (the )?(docs|documentation|readme|comments?)\b/.test(
        classification,
      ),
    unless: sensitive,
  },
  {
    reason: 'test-only finding without production exposure',
    applies: ({ paths, classification }) =>
      paths.every(looksLikeTest) ||
      /\b(tests?|test code|test fixtures?) only\b|\bonly (in|affects|used (in|by)) (the )?(tests?|test code|fixtures?)\b/.test(
        classification,
      ),
    unless: sensitive,
  },
  {
    reason: 'dependency-version finding belongs in dependency scanner',
    applies: ({ classification }) =>
      /\b(outdated|vulnerable|old|unpinned|unmaintained|obsolete|deprecated) (\w+ )?(dependency|dependencies|package|library|module|version)\b|\bcve \d{4} \d+\b|\b(dependency|package|library) (version|is (outdated|vulnerable))\b/.test(
        classification,
      ),
    unless: /\b(reachable|reaches|called with|exploit\w*|attacker|untrusted|install script|typosquat\w*)\b/,
  },
  {
    reason: 'generic rate-limit finding without security-boundary impact',
    applies: ({ classification }) => /\b(rate limit\w*|throttl\w*|brute forc\w*)\b/.test(classification),
    unless: boundary,
  },
  {
    reason: 'generic dos/resource-exhaustion finding without concrete security impact',
    applies: ({ classification }) =>
      /\b(denial of service|dos|redos|(resource|memory|cpu|disk) exhaustion|out of memory|unbounded (memory|allocation|loop|growth|read|cache|queue|list))\b/.test(
        classification,
      ),
    unless: boundary,
  },
  {
    reason: 'client-side auth finding without server-side trust boundary',
    applies: ({ classification }) =>
      /\b(client side|front ?end|in the browser|hidden (button|route|link|menu))\b/.test(classification) &&
      /\b(auth\w*|role|permission|access|check|guard)s?\b/.test(classification),
    unless:
      /\b(server (does not|never|also|trusts|accepts|takes)|api (accepts|trusts|does not)|no (server|backend) (side )?check|backend (accepts|trusts|does not))\b|\b(credential|secret|private key|api key)s?\b/,
  },
  {
    reason: 'react xss finding without unsafe html sink',
    applies: ({ classification, all, code }) =>
      /\b(xss|cross site scripting)\b/.test(classification) &&
      /\b(react|jsx|tsx)\b/.test(all) &&
      !unsafeSink.test(code) &&
      !/dangerouslysetinnerhtml|innerhtml/.test(all),
  },
  {
    reason: 'shell command-injection finding without untrusted input path',
    applies: ({ classification, paths }) =>
      /\b(command|shell) injection\b|\bunquoted (variable|expansion)\b/.test(classification) && paths.every(isShell),
    unless:
      /\b(untrusted|attacker|request|caller|strangers?|pull request|issue (title|body)|branch name|user input|user controlled|webhook|upload\w*|download\w*|from the network)\b/,
  },
  {
    reason: 'logging finding only covers non-sensitive operational data',
    applies: ({ classification }) =>
      /\b(log|logs|logged|logging|log output|verbose (log|error)s?)\b/.test(classification) &&
      /\b(log\w*|exposure|disclosure|verbose)\b/.test(classification),
    unless:
      /\b(password|passphrase|token|secret|key|credential|cookie|session|authorization|personal|pii|e ?mail|card|health|inject\w*|forg\w*|log4shell|jndi)s?\b/,
  },
  {
    reason: 'generic prompt-injection finding without privileged svc effect',
    applies: ({ classification }) => /\bprompt injection\b/.test(classification),
    unless:
      /\b(tool|tools|task|tasks|credential\w*|secret\w*|cluster|privileged|execut\w*|commands?|deletes?|exfiltrat\w*|merges?|push\w*|approv\w*)\b/,
  },
  {
    reason: 'generic best-practice hardening request without exploit path',
    applies: ({ classification }) =>
      /\b(best practices?|hardening|defen[cs]e in depth|consider (adding|using|enabling)|could be improved|should ideally|missing (security )?headers?|code quality|maintainability)\b/.test(
        classification,
      ),
    unless: exploit,
  },
]

function plain(parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined)
    .join(' ')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
}

function readTexts({ evidence, ...finding }: VerifiedFinding): Texts {
  const { title, category, summary, triage, severity: _, confidence: __, ...others } = finding
  const classification = plain([title, category, summary, triage])
  return {
    classification,
    all: `${classification} ${plain(Object.values(others))}`,
    paths: evidence.map(({ path }) => path),
    code: evidence.map(({ quote }) => quote).join('\n'),
  }
}

/** Why it is no finding; undefined: it may be one. */
export function filterFinding(finding: VerifiedFinding): string | undefined {
  const texts = readTexts(finding)
  return rules.find(({ applies, unless }) => applies(texts) && unless?.test(texts.all) !== true)?.reason
}
