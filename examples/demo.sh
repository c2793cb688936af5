#!/bin/sh
# Serves five SSH hosts on loopback, rolls examples/site.yml out twice, and stops
# them. The second run must change nothing.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
export PLAY_NO_HISTORY=1 # these runs are not among the person's own
trap 'kill "$fleet" 2>/dev/null || true; wait "$fleet" 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

bin/fleet -n 5 -D "$work" >"$work/fleet.log" 2>&1 &
fleet=$!
i=0
while [ ! -s "$work/inventory.ini" ]; do
  i=$((i + 1))
  if [ "$i" -gt 100 ] || ! kill -0 "$fleet" 2>/dev/null; then
    echo "demo: the fleet did not start:" >&2
    cat "$work/fleet.log" >&2
    exit 1
  fi
  sleep 0.1
done

echo "== play -i inventory.ini examples/site.yml: the first run installs the release"
bin/play -i "$work/inventory.ini" examples/site.yml
echo
echo "== the same again: nothing is left to do"
bin/play -i "$work/inventory.ini" examples/site.yml | tee "$work/second.txt"
if grep -E '^web[0-9]+ .*changed=[1-9]' "$work/second.txt" >/dev/null; then
  echo "demo: the second run changed something" >&2
  exit 1
fi
echo "== done: the second run says changed=0 on every host"
