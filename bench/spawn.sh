#!/usr/bin/env bash
# How fast does each start processes? Tasks of true on two slots, the journal on: one tailcut run; 100 jobs of one server; GNU parallel -j2;
# xargs -P2, which keeps no record.
#
#   bench/spawn.sh [ROUNDS]     (default 5; TASKS=10000 JOBS=100 TOOLS="run serve parallel xargs")
#
# They take turns, so that other load on the machine hits all alike. Wall time and processor time of all processes, from the first to the
# last; the server's includes its start, the submissions and its end. A ratio is of one round: rate of the tool over that of xargs.
# Results are kept until the end, and the compiler works elsewhere if it can: on ext4 without a journal, making files is
# slow for minutes after many were removed. TMPDIR=/dev/shm shows what the file system costs.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5} tasks=${TASKS:-10000} jobs=${JOBS:-100} tools=${TOOLS:-run serve parallel xargs}
each=$((tasks / jobs))

command -v parallel >/dev/null || apt-get install -y parallel >/dev/null
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
[ ! -w /dev/shm ] || export GOTMPDIR=/dev/shm
go build -o "$tmp/tailcut" ./cmd/tailcut
(cd history && go build -o "$tmp/tailcut-history" ./cmd/tailcut-history)
mkdir -p "$tmp/home" && touch "$tmp/home/will-cite"
export XDG_STATE_HOME=$tmp/state

run_run() { "$tmp/tailcut" run --alone --tasks "$tasks" --slots 2 --output "$tmp/out$round" -- true >/dev/null 2>&1; }
run_serve() {
	local dir=$tmp/server$round id ids=()
	"$tmp/tailcut" serve --dir "$dir" --slots 2 --policy fifo --socket "$dir.socket" >"$dir.log" 2>&1 &
	until grep -qs 'listening on' "$dir.log"; do sleep 0.02; done
	export TAILCUT_SERVER=$dir.socket
	for ((job = 0; job < jobs; job++)); do
		id=$("$tmp/tailcut" submit --tasks "$each" --output "$tmp/out$round.$job" -- true 2>>"$dir.log")
		ids+=("$id")
	done
	"$tmp/tailcut" wait "${ids[@]}" >/dev/null
	"$tmp/tailcut" drain >/dev/null
	wait
	unset TAILCUT_SERVER
}
run_parallel() { seq "$tasks" | PARALLEL_HOME="$tmp/home" parallel -j2 true >/dev/null; }
run_xargs() { seq "$tasks" | xargs -P2 -n1 true >/dev/null; }

TIMEFORMAT='%R %U %S'
measure() { { time "run_$1"; } 2>&1 | awk '{ printf "%.3f %.3f\n", $1, $2 + $3 }' >>"$tmp/$1.s"; } # wall and processor seconds

# shellcheck disable=SC2086
printf '%-6s%s   load\n' round "$(printf ' %10s' $tools)"
for ((round = 1; round <= rounds; round++)); do
	for tool in $tools; do measure "$tool"; done
	printf '%-6s' "$round"
	for tool in $tools; do printf ' %10s' "$(tail -n1 "$tmp/$tool.s" | cut -d' ' -f1)"; done
	printf '   %s\n' "$(cut -d' ' -f1 /proc/loadavg)"
done
for ((round = 1; round <= rounds; round++)); do # the work was done: one part per task
	for of in "out$round" "out$round.*"; do
		# shellcheck disable=SC2086
		compgen -G "$tmp/$of" >/dev/null || continue # it took no part
		# shellcheck disable=SC2086
		[ "$(find "$tmp"/$of -name 'part-*' | wc -l)" = "$tasks" ] || { echo "round $round: parts are missing in $of" >&2; exit 1; }
	done
done

# spread prints the median of a list of numbers, and its least and greatest.
spread() { sort -n | awk '{ x[NR] = $1 } END { printf "%.2f (%.2f-%.2f)", NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2, x[1], x[NR] }'; }
printf '\n%-9s %22s %18s %24s %24s\n' '' 'wall s' 'tasks/s' 'rate over that of xargs' 'processor s per 1000'
for tool in $tools; do
	printf '%-9s %22s %18s %24s %24s\n' "$tool" "$(cut -d' ' -f1 "$tmp/$tool.s" | spread)" \
		"$(awk -v n="$tasks" '{ print n / $1 }' "$tmp/$tool.s" | spread)" \
		"$(paste -d' ' "$tmp/$tool.s" "$tmp/xargs.s" | awk '{ print $3 / $1 }' | spread)" \
		"$(awk -v n="$tasks" '{ print $2 / n * 1000 }' "$tmp/$tool.s" | spread)"
done
echo '(wanted of run and serve: 0.9 of xargs)'
