{{/* Binds a policy everywhere; call with a dict of root and name. */}}
{{- define "graphwright.policyBinding" -}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: graphwright-{{ .name }}
  labels: {{- include "graphwright.labels" (dict "root" .root) | nindent 4 }}
spec:
  policyName: graphwright-{{ .name }}
  validationActions: [Deny]
{{- end }}
