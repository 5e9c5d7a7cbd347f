#!/usr/bin/env bash
# Starts a disposable instance for the steps of a job that follow.
set -euo pipefail

if [ -n "$BERTH_BINARY" ]; then
  berth=$BERTH_BINARY
else
  export BERTH_DIR="$RUNNER_TEMP/berth-bin"
  root="$GITHUB_ACTION_PATH/../../.."
  url=$(sed -n 's/^ *"url": "\(.*\)".*/\1/p' "$root/package.json")
  export BERTH_RELEASES="${BERTH_RELEASES_INPUT:-$url}"
  sh "$root/packaging/install.sh"
  berth="$BERTH_DIR/berth"
fi
unset BERTH_BINARY BERTH_VERSION BERTH_RELEASES BERTH_RELEASES_INPUT BERTH_DIR

folder=$(mktemp -d "$RUNNER_TEMP/berth.XXXXXX")
"$berth" serve --json --port 0 --data "$folder/data" > "$folder/ready" 2> "$folder/log" &
pid=$!
until [ -s "$folder/ready" ]; do
  if ! kill -0 "$pid" 2> /dev/null; then
    cat "$folder/log" >&2
    exit 1
  fi
  sleep 0.05
done
origin=$(sed 's/.*"origin":"\([^"]*\)".*/\1/' "$folder/ready")
key=$(curl -fsSX POST "$origin/api/keys" | grep -o 'ak_[A-Za-z0-9]*' | head -n 1)
echo "::add-mask::$key"
{
  echo "origin=$origin"
  echo "gateway-url=$origin/v1"
  echo "api-url=$origin/api"
  echo "key=$key"
} >> "$GITHUB_OUTPUT"
{
  echo "BERTH_ORIGIN=$origin"
  echo "BERTH_KEY=$key"
  echo "OPENAI_BASE_URL=$origin/v1"
  echo "OPENAI_API_KEY=$key"
} >> "$GITHUB_ENV"
echo "Berth serves $origin as pid $pid, until the job ends. Its log is $folder/log."
