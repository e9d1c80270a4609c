#!/bin/sh
# Installs the locked npm packages, Node 24 among them. Some Node with npm is enough to begin with: it is only used to
# fetch the packages, and everything afterwards runs on node_modules/.bin/node.
set -eu
cd "$(dirname "$0")/.."

stamp=node_modules/.graphwright-installed
if [ -f "$stamp" ] && cmp -s package-lock.json "$stamp"; then exit 0; fi

if ! command -v npm >/dev/null 2>&1; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "npm is missing and cannot be installed here: install Node.js with npm (any version from 18 on), then run this again." >&2
    exit 1
  fi
  echo "==> installing npm from Debian's packages"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm ca-certificates >/dev/null
fi

echo "==> installing npm packages"
log=$(mktemp)
# As Debian's Node does, for when it is our own that runs npm: a proxy's certificate is in the machine's store, if anywhere.
if ! NODE_USE_SYSTEM_CA=1 npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >"$log" 2>&1; then
  cat "$log" >&2
  rm -f "$log"
  echo "npm ci failed: see above. Check that the package registry can be reached, then run this again." >&2
  exit 1
fi
rm -f "$log"
if ! node_modules/.bin/node --version >/dev/null 2>&1; then
  echo "the packages brought no Node binary for this machine: Linux on x64 or arm64 is supported." >&2
  exit 1
fi
cp package-lock.json "$stamp"
