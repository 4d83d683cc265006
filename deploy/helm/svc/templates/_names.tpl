{{/* The release's name is the name of everything that there is once in a namespace. */}}
{{- define "svc.name" -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- end }}

{{/* Names that are one for the whole cluster carry the namespace as well, unless it is the usual one. */}}
{{- define "svc.clusterName" -}}
{{- if eq .Release.Namespace "svc-system" }}{{ include "svc.name" . }}{{ else }}{{ printf "%s-%s" .Release.Namespace (include "svc.name" .) | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "svc.serviceAccount" -}}{{ .Values.serviceAccount.name | default (include "svc.name" .) }}{{- end }}

{{- define "svc.image" -}}{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}{{- end }}

{{- define "svc.selector" -}}
app.kubernetes.io/name: svc
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "svc.labels" -}}
{{- with .Values.commonLabels }}
{{- toYaml . }}
{{ end }}
{{- include "svc.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/*
Whether Helm itself installs this: only then it looks at the cluster. What is only rendered is applied by others, who know no hooks
and no state.
*/}}
{{- define "svc.isInstalled" -}}{{ if lookup "v1" "Namespace" "" "default" }}yes{{ end }}{{- end }}

{{/* http, or https where the service has a certificate. */}}
{{- define "svc.scheme" -}}http{{ if .Values.tls.secretName }}s{{ end }}{{- end }}

{{- define "svc.priorityClass" -}}{{ include "svc.clusterName" .root }}-{{ .of }}{{- end }}

{{/* What the containers of this chart may: nothing. */}}
{{- define "svc.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "svc.podSecurity" -}}
{{- $usual := dict "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532 "fsGroup" 65532 "seccompProfile" (dict "type" "RuntimeDefault") }}
{{- toYaml (mergeOverwrite $usual .Values.podSecurityContext) }}
{{- end }}

{{/* What execution workspaces by agent-sandbox need where their claims are made. */}}
{{- define "svc.sandboxRules" -}}
# Execution workspaces: claims of sandboxes, and what is done with the sandboxes that are given.
- apiGroups: [extensions.agents.x-k8s.io]
  resources: [sandboxclaims]
  verbs: [get, list, watch, create, delete]
- apiGroups: [extensions.agents.x-k8s.io]
  resources: [sandboxtemplates]
  verbs: [get]
- apiGroups: [extensions.agents.x-k8s.io]
  resources: [sandboxwarmpools]
  verbs: [list, create]
- apiGroups: [agents.x-k8s.io]
  resources: [sandboxes]
  verbs: [get, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, create, patch, delete]
{{- end }}
