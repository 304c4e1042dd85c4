#!/usr/bin/env bash
# Do clones meet deadlines on this machine? WordCount and WordMean in jobs of 5, 10 and 20 map tasks, some of whose attempts are slowed on purpose.
#
#   bench/deadline.sh [REPETITIONS]     (default 5; MB=16 TASKS="5 10 20" SLOTS=40 SLACK=2.5 DISTURB=slow=0.1,factor=8 POLICIES="fifo dolly ...")
#
# The deadline is SLACK times what the job takes undisturbed; the law of durations that policies reckon with is Pareto's from the tasks' mean there on, tail
# index 1.5. Each repetition has a seed of its own, and within it every policy meets the same slow attempts. Attempts compete for the cores, so a clone here is not
# as free as on a machine of its own. A row tells the share of jobs in time, and the mean flow time.
set -euo pipefail
cd "$(dirname "$0")/.."
repetitions=${1:-5} mb=${MB:-16} slots=${SLOTS:-40} slack=${SLACK:-2.5} disturb=${DISTURB:-slow=0.1,factor=8}
read -ra sizes <<<"${TASKS:-5 10 20}"
read -ra policies <<<"${POLICIES:-fifo dolly hadoop2 shed laxity}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/tailcut" ./cmd/tailcut
awk -v n="$((mb << 20))" 'BEGIN { srand(1); while (n > 0) { s = ""; for (i = 0; i < 12; i++) s = s "w" int(20000 * rand()) " "; print s; n -= length(s) + 1 } }' >"$tmp/text"

field() { grep -o "\"$1\":[a-z0-9.e+-]*" | head -n1 | cut -d: -f2; }
run() { # operator, tasks, seed, further flags
	"$tmp/tailcut" run "$1" "$tmp/text" --split-size $(((mb << 20) / $2 + 4096)) --slots "$slots" --max-attempts 5 --clone-budget none --seed "$3" \
		--output "$tmp/out" --force --format json "${@:4}" 2>/dev/null
}

printf '%-10s %5s %-15s %9s %8s %8s\n' operator tasks policy in_time flow_s deadline
for operator in wordcount wordmean; do
	for tasks in "${sizes[@]}"; do
		json=$(run "$operator" "$tasks" 1 --policy fifo)
		deadline=$(awk -v t="$(field flow_seconds <<<"$json")" -v s="$slack" 'BEGIN { printf "%.3f", s * t }')
		law=$(awk -v t="$(field fruitful_seconds <<<"$json")" -v n="$tasks" 'BEGIN { printf "pareto:alpha=1.5,xm=%.4f", t / n }')
		for ((seed = 1; seed <= repetitions; seed++)); do
			for p in "${policies[@]}"; do
				json=$(run "$operator" "$tasks" "$seed" --policy "$p" --disturb "$disturb" --deadline "${deadline}s" --law "$law")
				echo "$p $(field deadline_met <<<"$json") $(field flow_seconds <<<"$json")"
			done
		done >"$tmp/rows"
		for p in "${policies[@]}"; do
			awk -v p="$p" -v o="$operator" -v n="$tasks" -v d="$deadline" '$1 == p { jobs++; met += $2 == "true"; sum += $3 }
				END { printf "%-10s %5d %-15s %9.2f %8.2f %8.2f\n", o, n, p, met / jobs, sum / jobs, d }' "$tmp/rows"
		done
	done
done
