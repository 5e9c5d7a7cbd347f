#!/bin/sh
# Installs Berth for this user: curl -fsSL @URL@/install.sh | sh
# Root is not needed. BERTH_DIR is the folder of the program, BERTH_VERSION a version other than the
# newest of the channel BERTH_CHANNEL, BERTH_RELEASES another address of releases.
set -eu

releases=${BERTH_RELEASES:-@URL@}
folder=${BERTH_DIR:-$HOME/.local/bin}

fail() {
  echo "Berth was not installed: $1" >&2
  exit 1
}
fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 2 -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -qO "$2" "$1"
  else
    fail "it needs curl or wget."
  fi || fail "$1 could not be downloaded. Check the network and the address, and run this again."
}
hash_of() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi |
    cut -d ' ' -f 1
}

case $(uname -m) in
  x86_64 | amd64) cpu=x64 ;;
  aarch64 | arm64) cpu=arm64 ;;
  *) fail "there is no binary for $(uname -m). Build it from source." ;;
esac
case $(uname -s) in
  Linux)
    target=linux-$cpu
    if ldd --version 2>&1 | grep -qi musl; then
      target=$target-musl
    elif [ $cpu = x64 ] && ! grep -q avx2 /proc/cpuinfo; then
      target=$target-baseline
    fi
    ;;
  Darwin) target=darwin-$cpu ;;
  *) fail "there is no binary for $(uname -s). Windows has npx berth." ;;
esac

# Beside its final place: /tmp may be another disk, or one that no program may run from.
mkdir -p "$folder" && work=$(mktemp -d "$folder/.berth-install.XXXXXX") ||
  fail "$folder cannot be written. Set BERTH_DIR to another folder."
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
version=${BERTH_VERSION:-}
if [ -z "$version" ]; then
  fetch "$releases/${BERTH_CHANNEL:-stable}" "$work/channel"
  version=$(cat "$work/channel")
fi
case $version in '' | *[!0-9A-Za-z.-]*) fail "the channel names no version." ;; esac

file=berth-$version-$target.gz
fetch "$releases/$version/SHA256SUMS" "$work/sums"
fetch "$releases/$version/$file" "$work/$file"
expected=$(awk -v file="$file" '$2 == file { print $1 }' "$work/sums")
[ -n "$expected" ] || fail "SHA256SUMS of $version has no $file."
[ "$(hash_of "$work/$file")" = "$expected" ] || fail "the checksum of $file is wrong. Try again."

gunzip "$work/$file"
chmod 755 "$work/${file%.gz}"
"$work/${file%.gz}" version >/dev/null || {
  case $target in *-musl) fail "$file does not run. It needs libstdc++: apk add libstdc++" ;; esac
  fail "$file does not run here, for the reason above. On Linux it needs glibc 2.17 or later."
}
mv "$work/${file%.gz}" "$folder/berth"

echo "Downloaded $releases/$version/$file, and verified its SHA-256 checksum."
echo "Installed Berth $version as $folder/berth. Nothing else was changed."
case :$PATH: in
  *":$folder:"*) echo "Next: berth serve" ;;
  *) echo "Next: $folder/berth serve   (add $folder to PATH to leave out the folder)" ;;
esac
