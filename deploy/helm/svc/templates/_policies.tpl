{{/* What the admission policies know of this installation, as literals of CEL. */}}
{{- define "svc.cel.accounts" -}}
{{- $own := printf "system:serviceaccount:%s:%s" .Release.Namespace (include "svc.serviceAccount" .) }}
{{- concat (list $own) .Values.admission.accounts | toJson }}
{{- end }}

{{- define "svc.cel.allowNetworks" -}}
{{- $given := .Values.settings.allowNetwork | default list }}
{{- if kindIs "string" $given }}{{ $given = splitList "," $given }}{{ end }}
{{- $networks := list }}
{{- range $given }}
{{- $network := trim . }}
{{- if not (contains "/" $network) }}{{ $network = printf "%s/%s" $network (contains ":" $network | ternary "128" "32") }}{{ end }}
{{- $networks = append $networks $network }}
{{- end }}
{{- toJson $networks }}
{{- end }}

{{- define "svc.cel.ownAddresses" -}}
{{- $name := include "svc.name" . }}
{{- $space := .Release.Namespace }}
{{- $hosts := list "localhost" "127.0.0.1" "::1" $name (printf "%s.%s" $name $space) (printf "%s.%s.svc" $name $space) (printf "%s.%s.svc.cluster.local" $name $space) }}
{{- $addresses := list }}
{{- range $hosts }}{{ $addresses = append $addresses (printf "%s:%d" . (int $.Values.service.port)) }}{{ end }}
{{- toJson $addresses }}
{{- end }}

{{/* Tokens go on to tools where context tokens are taken at all. */}}
{{- define "svc.cel.propagates" -}}
{{ and (hasKey .Values.settings "contextTokenProfile") (hasKey .Values.settings "contextTokenIssuer") }}
{{- end }}

{{/* Of each provider of execution workspaces that is enabled. */}}
{{- define "svc.cel.workspaceTemplates" -}}
{{- $templates := dict }}
{{- with .Values.settings }}
{{- if eq (toString .agentSandboxEnabled) "true" }}{{ $templates = set $templates "agent-sandbox" (.agentSandboxDefaultTemplate | default "") }}{{ end }}
{{- if eq (toString .actorEnabled) "true" }}{{ $templates = set $templates "actor" (.actorDefaultTemplate | default "") }}{{ end }}
{{- end }}
{{- toJson $templates }}
{{- end }}

{{- define "svc.cel.workspaceCleanups" -}}
{{- dict "agent-sandbox" (.Values.settings.agentSandboxCleanupPolicy | default "delete") "actor" (.Values.settings.actorCleanupPolicy | default "delete") | toJson }}
{{- end }}

{{/* Where templates are that tasks and tools name without a namespace; empty: in their own. */}}
{{- define "svc.cel.workspaceSpaces" -}}
{{- $sandboxes := ternary .Release.Namespace "" (eq (.Values.settings.agentSandboxNamespaceStrategy | default "task") "controller") }}
{{- dict "agent-sandbox" $sandboxes "actor" (.Values.settings.actorDefaultTemplateNamespace | default "") | toJson }}
{{- end }}

{{/* A setting that is a list, or text with commas. */}}
{{- define "svc.cel.list" -}}
{{- $given := hasKey .settings .name | ternary (index .settings .name) .usual }}
{{- if kindIs "string" $given }}{{ $given = splitList "," $given }}{{ end }}
{{- $entries := list }}
{{- range $given }}{{ $entries = append $entries (trim .) }}{{ end }}
{{- without $entries "" | toJson }}
{{- end }}

{{/* Of each namespace with a network of its own: its words, and what becomes of other hosts. */}}
{{- define "svc.cel.namespaceWords" -}}
{{- $all := dict }}
{{- range include "svc.cel.list" (dict "settings" .Values.settings "name" "namespaceNetwork" "usual" list) | fromJsonArray }}
{{- $parts := splitn "=" 2 . }}
{{- $words := regexSplit "\\s+" (trim $parts._1) -1 }}
{{- $unknown := has "refuse" $words | ternary "refuse" (has "ask" $words | ternary "ask" (has "allow" $words | ternary "allow" "refuse")) }}
{{- $_ := set $all $parts._0 (dict "allow" (without $words $unknown) "unknown" $unknown) }}
{{- end }}
{{- toJson $all }}
{{- end }}

{{- define "svc.cel.namespaceNetworks" -}}
{{- $networks := dict }}
{{- range $name, $words := include "svc.cel.namespaceWords" . | fromJson }}{{ $_ := set $networks $name $words.allow }}{{ end }}
{{- toJson $networks }}
{{- end }}

{{- define "svc.cel.namespaceUnknowns" -}}
{{- $unknowns := dict }}
{{- range $name, $words := include "svc.cel.namespaceWords" . | fromJson }}{{ $_ := set $unknowns $name $words.unknown }}{{ end }}
{{- toJson $unknowns }}
{{- end }}

{{/* Another installation may serve the other namespaces. */}}
{{- define "svc.policyScope" -}}
{{- with .Values.watchNamespaces }}
{{- dict "namespaceSelector" (dict "matchExpressions" (list (dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" .))) | toJson }}
{{- else }}{}{{ end }}
{{- end }}
