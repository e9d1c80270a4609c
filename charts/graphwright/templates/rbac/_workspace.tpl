{{/*
What a component may do in the namespaces it serves: a ClusterRole that is bound everywhere or, where the namespaces are
named, a Role in each of them and no right anywhere else. Call with a dict of root, component and rules.
*/}}
{{- define "graphwright.workspaceRights" -}}
{{- $root := .root }}
{{- $component := .component }}
{{- $rules := .rules }}
{{- range $namespace := ($root.Values.watchNamespaces | default (list "")) }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ if $namespace }}Role{{ else }}ClusterRole{{ end }}
metadata:
  name: graphwright-{{ $component }}{{ if $namespace }}-workspace{{ end }}
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "graphwright.labels" (dict "root" $root "component" $component) | nindent 4 }}
rules:
  {{- $rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ if $namespace }}RoleBinding{{ else }}ClusterRoleBinding{{ end }}
metadata:
  name: graphwright-{{ $component }}{{ if $namespace }}-workspace{{ end }}
  {{- with $namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "graphwright.labels" (dict "root" $root "component" $component) | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ if $namespace }}Role{{ else }}ClusterRole{{ end }}
  name: graphwright-{{ $component }}{{ if $namespace }}-workspace{{ end }}
subjects:
  - kind: ServiceAccount
    name: graphwright-{{ $component }}
    namespace: {{ $root.Release.Namespace }}
{{- end }}
{{- end }}
