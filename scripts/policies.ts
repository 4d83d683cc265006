// Prints the admission policies as a template of the chart: what differs between installations is filled in by Helm.
import { Document, Scalar, visit } from 'yaml'
import { buildPolicies, type PolicySettings } from '../src/rules/resources/policies/policies.ts'
import { defaultNetworkSettings } from '../src/rules/workspaces/network.ts'

export const policyTemplate = 'deploy/helm/svc/templates/admission.yaml'

/** A list of the settings, or what holds without it. */
function fillEntries(setting: string, usual: readonly string[]): string {
  const list = `(list ${usual.map((entry) => `"${entry}"`).join(' ')})`
  return `{{ include "svc.cel.list" (dict "settings" .Values.settings "name" "${setting}" "usual" ${list}) }}`
}

const fills = {
  accounts: '{{ include "svc.cel.accounts" . }}',
  isolated: '{{ .Values.enforceNamespaceIsolation }}',
  allowNetworks: '{{ include "svc.cel.allowNetworks" . }}',
  ownAddresses: '{{ include "svc.cel.ownAddresses" . }}',
  hasActors: '{{ .Values.settings.actorEnabled | default false }}',
  propagates: '{{ include "svc.cel.propagates" . }}',
  ownNamespace: '{{ .Release.Namespace | quote }}',
  workspaceDefaultProvider:
    '{{ .Values.settings.executionWorkspaceDefaultProvider | default "agent-sandbox" | quote }}',
  workspaceTemplates: '{{ include "svc.cel.workspaceTemplates" . }}',
  workspaceCleanups: '{{ include "svc.cel.workspaceCleanups" . }}',
  workspaceSpaces: '{{ include "svc.cel.workspaceSpaces" . }}',
  agentNetwork: fillEntries('agentNetwork', defaultNetworkSettings.agents),
  commandNetwork: fillEntries('commandNetwork', defaultNetworkSettings.commands),
  networkUnknown: `{{ .Values.settings.networkUnknown | default "${defaultNetworkSettings.onUnknown}" | quote }}`,
  namespaceNetworks: '{{ include "svc.cel.namespaceNetworks" . }}',
  namespaceUnknowns: '{{ include "svc.cel.namespaceUnknowns" . }}',
  allowsOpenNetwork: '{{ .Values.settings.allowOpenNetwork | default false }}',
} as const satisfies Partial<Record<keyof PolicySettings, string>>

const prefix = 'PREFIX'
const scope = 'SCOPE'

/** Expressions stand in blocks of their own, where no quote or brace means anything to YAML. */
function toYaml(object: object): string {
  const document = new Document(object)
  visit(document, {
    Pair(_key, { key, value }) {
      const isExpression = ['expression', 'messageExpression'].includes(String((key as Scalar).value))
      if (isExpression && value instanceof Scalar) value.type = 'BLOCK_LITERAL'
    },
  })
  return document.toString({ lineWidth: 0 })
}

function fillIn(text: string): string {
  return text
    .replace(`name: ${prefix}-`, 'name: {{ include "svc.clusterName" . }}-')
    .replace(`policyName: ${prefix}-`, 'policyName: {{ include "svc.clusterName" . }}-')
    .replace(/^metadata:\n {2}name: .*$/m, '$&\n  labels:\n    {{- include "svc.labels" . | nindent 4 }}')
    .replace(`matchResources: ${scope}`, 'matchResources: {{ include "svc.policyScope" . }}')
}

export function printPolicyTemplate(): string {
  const settings = { ...fills, prefix, scope: scope as unknown as object }
  return buildPolicies(settings)
    .map((object) => fillIn(toYaml(object)))
    .join('---\n')
}
