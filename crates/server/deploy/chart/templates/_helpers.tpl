{{- define "wardgate.name" -}}
{{- if contains "wardgate" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-wardgate" .Release.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "wardgate.selector" -}}
app.kubernetes.io/name: wardgate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "wardgate.labels" -}}
{{ include "wardgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "wardgate.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* A server without policies, or without a key that it trusts, is a mistake: nothing is rendered. */}}
{{- define "wardgate.check" -}}
{{- $p := .Values.policies }}
{{- if and $p.configMap $p.url }}{{ fail "policies.configMap and policies.url are both set: choose one" }}{{ end }}
{{- if not (or $p.configMap $p.url) }}{{ fail "set policies.configMap or policies.url" }}{{ end }}
{{- if not $p.trust }}{{ fail "policies.trust has no public key: no bundle would open" }}{{ end }}
{{- if and (hasPrefix "https:" $p.url) (not $p.caSecret) }}{{ fail "policies.url with https needs policies.caSecret" }}{{ end }}
{{- if and .Values.auth.callers (not .Values.auth.tokensSecret) }}{{ fail "auth.callers needs auth.tokensSecret" }}{{ end }}
{{- end }}
