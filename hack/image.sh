#!/bin/sh
# Builds the two container images as archives, without Docker: the operator's from dist/, and the one of the sample
# agents. Load them into the local cluster with "hack/cluster/cluster image load .cache/images/*.tar".
set -eu
cd "$(dirname "$0")/.."

if [ ! -f dist/graphwright.cjs ]; then
  echo "dist/ is not built: run \"make build\", or \"make image\", which does both" >&2
  exit 1
fi

# Debian has it in a package; elsewhere any busybox with the usual applets does.
if [ ! -x /bin/busybox ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing busybox for the image of the sample agents"
    apt-get install --yes --no-install-recommends busybox-static >/dev/null
  else
    echo "/bin/busybox is missing: install the package busybox-static" >&2
    exit 1
  fi
fi

out=.cache/images
mkdir -p "$out"
for name in graphwright samples; do
  hack/cluster/cluster image build --output "$out/$name.tar" "hack/images/$name.json"
  echo "$out/$name.tar  $(($(wc -c <"$out/$name.tar") / 1048576)) MiB"
done
