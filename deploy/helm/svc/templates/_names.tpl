{{/* The release's name is the name of everything that there is once in a namespace. */}}
{{- define "svc.name" -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- end }}

{{/* Names that are one for the whole cluster carry the namespace as well, unless it is the usual one. */}}
{{- define "svc.clusterName" -}}
{{- if eq .Release.Namespace "svc-system" }}{{ include "svc.name" . }}{{ else }}{{ printf "%s-%s" .Release.Namespace (include "svc.name" .) | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "svc.serviceAccount" -}}{{ .Values.serviceAccount.name | default (include "svc.name" .) }}{{- end }}

{{- define "svc.image" -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end }}

{{- define "svc.selector" -}}
app.kubernetes.io/name: svc
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "svc.labels" -}}
{{ include "svc.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* What the containers of this chart may: nothing. */}}
{{- define "svc.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "svc.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
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
{{- end }}
