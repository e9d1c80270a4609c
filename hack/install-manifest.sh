#!/bin/sh
# Renders manifests/install.yaml from the chart: everything that kubectl apply --server-side needs to install
# Graphwright into the namespace graphwright-system. Another file, or - for standard output, may be named.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
output=${1:-$root/manifests/install.yaml}
namespace=graphwright-system

render() {
  cat <<EOF
# Rendered from charts/graphwright by make manifests. Do not edit.
#   kubectl apply --server-side -f manifests/install.yaml
apiVersion: v1
kind: Namespace
metadata:
  name: $namespace
  labels:
    app.kubernetes.io/name: graphwright
    pod-security.kubernetes.io/enforce: restricted
EOF
  # helm takes itself for Kubernetes 1.20 where no cluster tells it otherwise.
  "$root/hack/cluster/cluster" helm template graphwright "$root/charts/graphwright" \
    --namespace "$namespace" --kube-version 1.33.0
}

if [ "$output" = - ]; then
  render
else
  render >"$output.partial"
  mv "$output.partial" "$output"
fi
