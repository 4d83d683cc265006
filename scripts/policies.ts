// Prints the admission policies as a template of the chart: what differs between installations is filled in by Helm.
import { Document, Scalar, visit } from 'yaml'
import { usedElsewhere } from '../src/rules/tasks/uses-elsewhere.ts'
import { defaultNetworkSettings } from '../src/rules/workspaces/network.ts'
import { buildPolicies, type PolicySettings } from './admission/policies.ts'

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
  namespace: '{{ .Release.Namespace }}',
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

/** Of the object that the policy of what is used elsewhere reads. */
export function buildUsedElsewhereDefinition() {
  const { group, version: name, kind, plural } = usedElsewhere
  const data = {
    description:
      'By namespace and kind: a line for each object, and the namespace of Secrets of tasks that it is part of.',
    type: 'object',
    additionalProperties: { type: 'string' },
  }
  const description =
    'What unfinished tasks use in other namespaces than their Secrets are in, and their config maps in any. The service writes it.'
  const schema = { openAPIV3Schema: { description, type: 'object', properties: { data } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular: plural },
      scope: 'Namespaced',
      versions: [{ name, served: true, storage: true, schema }],
    },
  }
}

/** Where namespaces are isolated nothing is used elsewhere. */
function onlyWhereShared(text: string): string {
  if (!text.includes('clusterName" . }}-used-elsewhere\n')) return text
  return `{{- if not .Values.enforceNamespaceIsolation }}\n${text}{{- end }}\n`
}

export function printPolicyTemplate(): string {
  const settings = { ...fills, prefix, scope: scope as unknown as object }
  return buildPolicies(settings)
    .map((object) => onlyWhereShared(fillIn(toYaml(object))))
    .join('---\n')
}
