#!/usr/bin/env bash
# How fast does each start processes? 2,000 tasks of true on two slots: tailcut run with its journal on, GNU parallel -j2, xargs -P2.
#
#   bench/spawn.sh [ROUNDS]     (default 5; TASKS=2000)
#
# The three take turns, so that other load on the machine hits all alike. Wall time of the whole process, medians, and ratios to tailcut.
# Results are kept until the end: on ext4 making files is slow for minutes after many were removed.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5} tasks=${TASKS:-2000}

command -v parallel >/dev/null || apt-get install -y parallel >/dev/null
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/tailcut" ./cmd/tailcut
mkdir -p "$tmp/home" && touch "$tmp/home/will-cite"

run_tailcut() { "$tmp/tailcut" run --tasks "$tasks" --slots 2 --output "$tmp/out$round" -- true >/dev/null 2>&1; }
run_parallel() { seq "$tasks" | PARALLEL_HOME="$tmp/home" parallel -j2 true >/dev/null; }
run_xargs() { seq "$tasks" | xargs -P2 -n1 true >/dev/null; }

seconds() { # of a command
	local begun=$EPOCHREALTIME
	"$@"
	awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f\n", b - a }'
}
median() { sort -n "$1" | awk '{ x[NR] = $1 } END { print NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'; }

printf '%-6s %10s %10s %10s   load\n' round tailcut parallel xargs
for ((round = 1; round <= rounds; round++)); do
	for tool in tailcut parallel xargs; do seconds "run_$tool" >>"$tmp/$tool.s"; done
	printf '%-6s %10s %10s %10s   %s\n' "$round" "$(tail -n1 "$tmp/tailcut.s")" "$(tail -n1 "$tmp/parallel.s")" "$(tail -n1 "$tmp/xargs.s")" "$(cut -d' ' -f1 /proc/loadavg)"
done
for ((round = 1; round <= rounds; round++)); do # the work was done: one part per task
	[ "$(find "$tmp/out$round" -name 'part-*' | wc -l)" = "$tasks" ] || { echo "round $round: parts are missing" >&2; exit 1; }
done

t=$(median "$tmp/tailcut.s") p=$(median "$tmp/parallel.s") x=$(median "$tmp/xargs.s")
awk -v n="$tasks" -v t="$t" -v p="$p" -v x="$x" 'BEGIN {
	printf "\n%-10s %10s %14s %22s\n", "", "median s", "tasks/s", "rate of tailcut over it"
	printf "%-10s %10.2f %14.0f %22s\n", "tailcut", t, n / t, ""
	printf "%-10s %10.2f %14.0f %22.2f   (wanted: 3)\n", "parallel", p, n / p, p / t
	printf "%-10s %10.2f %14.0f %22.2f   (wanted: 0.5)\n", "xargs", x, n / x, x / t
}'
