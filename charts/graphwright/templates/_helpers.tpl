{{/* Labels of every object; call with a dict of root and component. */}}
{{- define "graphwright.labels" -}}
app.kubernetes.io/name: graphwright
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
app.kubernetes.io/part-of: graphwright
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{/* Labels that select the pods of a component; never changed, because a Deployment's selector is immutable. */}}
{{- define "graphwright.selector" -}}
app.kubernetes.io/name: graphwright
app.kubernetes.io/component: {{ . }}
{{- end }}

{{- define "graphwright.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{ .Values.image.repository }}{{ ternary "@" ":" (hasPrefix "sha256:" $tag) }}{{ $tag }}
{{- end }}

{{- define "graphwright.gatewayURL" -}}
https://graphwright-gateway.{{ .Release.Namespace }}.svc:8443
{{- end }}

{{- define "graphwright.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "graphwright.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "graphwright.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: metrics }
  periodSeconds: 2
  timeoutSeconds: 2
{{- end }}

{{/* JSON: the namespaces of the operators that the policies know: this one's, and those of policies.operatorNamespaces. */}}
{{- define "graphwright.operatorNamespaces" -}}
{{- $own := ternary (list .Release.Namespace) (list) .Values.operator.install -}}
{{ concat $own .Values.policies.operatorNamespaces | uniq | toJson }}
{{- end }}

{{/* CEL: the request comes from one of the two ServiceAccounts of an operator. */}}
{{- define "graphwright.isOperator" -}}
request.userInfo.username in [
  {{- range $i, $namespace := include "graphwright.operatorNamespaces" . | fromJsonArray }}{{ if $i }},{{ end }}
  'system:serviceaccount:{{ $namespace }}:graphwright-manager',
  'system:serviceaccount:{{ $namespace }}:graphwright-gateway'
  {{- end }}]
{{- end }}

{{/* CEL: the request comes from the manager of an operator. */}}
{{- define "graphwright.isManager" -}}
request.userInfo.username in [
  {{- range $i, $namespace := include "graphwright.operatorNamespaces" . | fromJsonArray }}{{ if $i }},{{ end }}
  'system:serviceaccount:{{ $namespace }}:graphwright-manager'
  {{- end }}]
{{- end }}

{{/* CEL: the request comes from a controller of Kubernetes itself, such as the garbage collector. */}}
{{- define "graphwright.isKubernetes" -}}
request.userInfo.username == 'system:kube-controller-manager' ||
  (has(request.userInfo.groups) && 'system:serviceaccounts:kube-system' in request.userInfo.groups)
{{- end }}

{{/*
CEL: the requester belongs to a group that may go past the graph in an emergency. Names of groups may hold anything, such
as DOMAIN\ops: a text of JSON is one of CEL as well.
*/}}
{{- define "graphwright.breaksGlass" -}}
has(request.userInfo.groups) && request.userInfo.groups.exists(group, group in [
  {{- range $i, $group := .Values.policies.breakGlassGroups }}{{ if $i }}, {{ end }}{{ $group | toJson }}{{ end }}])
{{- end }}

{{/* Name of the Secret with the address for notices; empty where there is none. */}}
{{- define "graphwright.noticesSecret" -}}
{{- if .Values.notices.existingSecret -}}
{{ .Values.notices.existingSecret }}
{{- else if .Values.notices.url -}}
graphwright-notices
{{- end -}}
{{- end -}}
