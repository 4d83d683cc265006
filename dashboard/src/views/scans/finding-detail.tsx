// One finding: what is wrong and where, what was done about it, and what can be done.
import type { ReactNode } from 'react'
import type { Evidence, Finding } from '../../../../src/contract/api/scans/findings.ts'
import { Badge } from '../../parts/badge.tsx'
import { CodeQuote } from '../../parts/code-quote.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { Markdown } from '../../parts/markdown/markdown.tsx'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { Ago } from '../../parts/time.tsx'
import { FindingActions } from './finding-actions.tsx'
import { Patches } from './patches.tsx'
import { severityTones } from './severity-tones.ts'

type DetailProps = { finding: Finding; onDecided: () => void }

export function FindingDetail({ finding, onDecided }: DetailProps) {
  const { title, severity, confidence, state, category, filePath, line } = finding
  return (
    <article className="card stack finding" aria-label={title}>
      <h2>
        <Foreign text={title} />
      </h2>
      <div className="row">
        <Badge tone={severityTones[severity] ?? 'plain'}>{severity}</Badge>
        <Badge>{state.replaceAll('_', ' ')}</Badge>
        <span className="soft">confidence {confidence}</span>
        {category !== undefined && <Foreign className="soft" text={category} />}
        {filePath !== undefined && (
          <Foreign className="mono" text={line === undefined ? filePath : `${filePath}:${line}`} />
        )}
      </div>
      <FindingActions finding={finding} onDecided={onDecided} />
      <Markdown label="Summary" text={finding.summary} headings={3} />
      {finding.evidence.map((evidence) => (
        <EvidenceView key={JSON.stringify(evidence)} evidence={evidence} />
      ))}
      <Explanation finding={finding} />
      <Checked finding={finding} />
      <Patches finding={finding} />
      <History finding={finding} />
    </article>
  )
}

function EvidenceView({ evidence: { path, startLine, quote, symbol, label } }: { evidence: Evidence }) {
  if (quote !== undefined) return <CodeQuote path={path} firstLine={startLine} text={quote} />
  return (
    <p className="row">
      <Foreign className="mono" text={startLine === undefined ? path : `${path ?? ''}:${startLine}`} />
      <Foreign text={symbol} /> <Foreign text={label} />
    </p>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="stack">
      <h3>{title}</h3>
      {children}
    </section>
  )
}

/** Texts of the reviewer that are there. */
function Explanation({ finding }: { finding: Finding }) {
  const texts: [string, string | undefined][] = [
    ['Cause', finding.rootCause],
    ['How it shows', finding.reproduction],
    ['Suggested fix', finding.remediation ?? finding.suggestedAction],
    ['The least that must change', finding.minimumFixScope],
    ['A test that would have caught it', finding.suggestedRegressionTest],
    ['Why no test does', finding.whyTestsDoNotAlreadyCoverThis],
  ]
  return texts.map(([title, text]) =>
    text === undefined || text === '' ? null : (
      <Section key={title} title={title}>
        <Markdown label={title} text={text} headings={4} />
      </Section>
    ),
  )
}

const checkTones = { unvalidated: 'plain', pending: 'busy', validated: 'good', failed: 'bad', skipped: 'warn' } as const

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function Checked({ finding: { validationStatus, validationJSON } }: { finding: Finding }) {
  return (
    <Section title="Checked in a working copy">
      <div>
        <Badge tone={checkTones[validationStatus]}>{validationStatus}</Badge>
      </div>
      {validationJSON !== undefined && <ForeignBlock label="What the check says" text={prettyJson(validationJSON)} />}
    </Section>
  )
}

function History({ finding }: { finding: Finding }) {
  const { dismissal } = finding
  return (
    <Section title="History">
      <Facts
        of={[
          ['Found', <Ago key="found" at={finding.createdAt} />],
          ['By', finding.importedFrom ?? finding.model],
          ['Commit', finding.commitSHA && <Foreign className="mono" text={finding.commitSHA.slice(0, 12)} />],
          [
            'Dismissed',
            dismissal && (
              <>
                <Ago at={dismissal.at} /> by <Foreign text={dismissal.by} />: <Foreign text={dismissal.reason} />
              </>
            ),
          ],
          ['Until', dismissal?.until && <Ago key="until" at={dismissal.until} />],
          ['Reopened', finding.reopenReason && <Foreign text={finding.reopenReason} />],
          ['Pull request', finding.prURL && <OutsideLink key="pr" to={finding.prURL} />],
          ['Its state', finding.prState],
          ['Fixed', finding.fixedAt && <Ago key="fixed" at={finding.fixedAt} />],
          ['Last change', <Ago key="changed" at={finding.updatedAt} />],
        ]}
      />
    </Section>
  )
}
