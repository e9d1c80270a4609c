#!/bin/sh
# Builds the container images as archives, without Docker: the operator's from dist/, and the one of the sample agents.
# Load them into the local cluster with "hack/cluster/cluster image load .cache/images/*.tar".
# ARCH=amd64 or ARCH=arm64 builds the operator's image for that architecture, into a file that has it in its name.
# DIST and OUTPUT are other folders than dist/ and .cache/images.
set -eu
cd "$(dirname "$0")/.."

out=${OUTPUT:-.cache/images}
case "$(uname -m)" in
  x86_64) own=amd64 ;;
  aarch64) own=arm64 ;;
  *) own=$(uname -m) ;;
esac
# Paths in the specs are relative to the specs.
DIST=$(CDPATH='' cd -- "${DIST:-dist}" 2>/dev/null && pwd) || DIST=
export DIST

if [ ! -f "$DIST/graphwright.cjs" ]; then
  echo "dist/ is not built: run \"make build\", or \"make image\", which does both" >&2
  exit 1
fi
mkdir -p "$out"

# build NAME SPEC [FLAG…]
build() {
  name=$1
  spec=$2
  shift 2
  hack/cluster/cluster image build "$@" --output "$out/$name.tar" "hack/images/$spec.json"
  echo "$out/$name.tar  $(($(wc -c <"$out/$name.tar") / 1048576)) MiB"
}

# Node for another architecture, as the lock file has it.
fetch_node() {
  mkdir -p "$parts"
  # What is for one architecture alone is optional to npm, which goes on without it where it cannot be fetched.
  other_node=$parts/node_modules/node-linux-$node_arch/bin/node
  if [ -f "$other_node" ] && cmp -s package-lock.json "$parts/installed.json"; then return; fi
  echo "==> fetching Node for $ARCH"
  rm -f "$parts/installed.json"
  cp package.json package-lock.json .npmrc "$parts"
  log=$parts/npm.log
  # As Debian's Node does: a proxy's certificate is in the machine's store, if anywhere.
  if ! (cd "$parts" && NODE_USE_SYSTEM_CA=1 npm ci --os=linux --cpu="$node_arch" --omit=dev --no-audit --no-fund --loglevel=error >npm.log 2>&1) ||
    [ ! -f "$other_node" ]; then
    cat "$log" >&2
    echo "npm did not bring Node for $ARCH. Check that the package registry can be reached, then run this again." >&2
    exit 1
  fi
  cp package-lock.json "$parts/installed.json"
}

# Debian has the C and C++ libraries of other architectures in packages of its own, for cross compilers.
fetch_libraries() {
  libraries=$parts/root/usr/$gnu/lib
  if [ -f "$libraries/libstdc++.so.6" ]; then return; fi
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "the libraries for $ARCH come from Debian's packages, and this is no Debian. With Docker:" >&2
    echo "  docker buildx build --platform linux/$ARCH --tag registry.example/graphwright:0.1.0-$ARCH ." >&2
    exit 1
  fi
  echo "==> fetching libraries for $ARCH"
  rm -rf "$parts/packages" "$parts/root"
  mkdir -p "$parts/packages" "$parts/root"
  packages="libc6-$ARCH-cross libgcc-s1-$ARCH-cross libstdc++6-$ARCH-cross"
  # shellcheck disable=SC2086 # three words
  (cd "$parts/packages" && { apt-get -qq download $packages || { apt-get -qq update && apt-get -qq download $packages; }; } 2>download.log) || {
    cat "$parts/packages/download.log" >&2
    exit 1
  }
  for package in "$parts"/packages/*.deb; do dpkg-deb --extract "$package" "$parts/root"; done
}

if [ "${ARCH:-$own}" != "$own" ]; then
  case $ARCH in
    amd64) gnu=x86_64-linux-gnu node_arch=x64 ;;
    arm64) gnu=aarch64-linux-gnu node_arch=arm64 ;;
    *)
      echo "ARCH=$ARCH is not known: amd64 and arm64 are" >&2
      exit 1
      ;;
  esac
  parts=$PWD/.cache/images/parts/$ARCH
  fetch_node
  fetch_libraries
  export NODE_MODULES="$parts/node_modules" IMAGE_TAG="dev-$ARCH"
  build "graphwright-$ARCH" graphwright --arch "$ARCH" --libraries "$libraries"
  exit
fi

export NODE_MODULES="$PWD/node_modules" IMAGE_TAG=dev
if [ -n "${ARCH:-}" ]; then
  IMAGE_TAG=dev-$ARCH
  build "graphwright-$ARCH" graphwright
  exit
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
build graphwright graphwright
build samples samples
