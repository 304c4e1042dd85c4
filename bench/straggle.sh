#!/usr/bin/env bash
# What do clones gain? An array job, some of whose attempts are slowed on purpose, under fifo and under policies that clone.
#
#   bench/straggle.sh [REPETITIONS [FIRST]]     (default 5 from 1; KIND=wait TASKS=40 SECONDS_EACH=1 SLOTS=20 DISTURB=slow=0.1,factor=8
#                                                POLICIES="fifo spark ..." BESIDE=auto ROWS=FILE)
#
# KIND=sleep: tasks sleep, slow ones longer, as DISTURB says; nothing is stopped, and no load on the machine slows them.
#
# KIND=wait: tasks wait a millisecond again and again, so that more can run at once than there are cores; being stopped slows them as much as if they
# computed, and other load on the machine hardly does. KIND=cpu: tasks compute; then SLOTS should be the number of cores.
#
# Each repetition has a seed of its own, and within it every policy meets the same slow attempts. Policies take turns. Ratios are taken within
# a repetition (fifo's flow time over the policy's, above 1 is better), and told as median, least and most. At the end stands the median of BESIDE by the
# least median of the other policies. Seeds count from FIRST, and what earlier calls have put in ROWS is summed up, too, so that a long series can be
# taken in pieces.
set -euo pipefail
cd "$(dirname "$0")/.."
repetitions=${1:-5} first=${2:-1} tasks=${TASKS:-40} each=${SECONDS_EACH:-1} slots=${SLOTS:-20} disturb=${DISTURB:-slow=0.1,factor=8}
read -ra policies <<<"${POLICIES:-fifo auto spark late-short srew mantri fork}"
beside=${BESIDE:-auto}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
rows=${ROWS:-$tmp/rows}
go build -o "$tmp/tailcut" ./cmd/tailcut

disturbed=(--disturb "$disturb") turns=0
case ${KIND:=wait} in
cpu) task=(sh -c 'i=0; while [ $i -lt $N ]; do i=$((i+1)); done') ;;
wait) task=(perl -e 'select undef, undef, undef, 0.001 for 1 .. $ENV{N}') ;;
sleep)
	task=(perl -MDigest::MD5=md5 -e '($slow, $factor) = $ENV{DISTURB} =~ /slow=(.*),factor=(.*)/;
		$u = unpack("N", md5("$ENV{SEED} $ENV{TAILCUT_TASK} $ENV{TAILCUT_ATTEMPT}")) / 2**32;
		select undef, undef, undef, $ENV{EACH} * ($u < $slow ? $factor : 1)')
	disturbed=()
	;;
esac
if [ "$KIND" != sleep ]; then
	turns=$(for _ in 1 2 3 4 5; do # of the task's loop in so many seconds, from the quickest of five tries
		begun=$EPOCHREALTIME n=200000
		[ "$KIND" = cpu ] || n=200
		N=$n "${task[@]}"
		awk -v a="$begun" -v b="$EPOCHREALTIME" -v s="$each" -v n=$n 'BEGIN { printf "%d\n", n * s / (b - a) }'
	done | sort -n | tail -n1)
fi
printf '%d %s tasks of %s s (%d turns), %d slots, slowed %s\n\n' "$tasks" "$KIND" "$each" "$turns" "$slots" "$disturb"

field() { grep -o "\"$1\":[0-9.e+-]*" | head -n1 | cut -d: -f2; }
printf '%-4s %-12s %8s %8s %7s %9s %10s   load\n' seed policy flow_s attempts clones fruitful fruitless
for ((seed = first; seed < first + repetitions; seed++)); do
	for p in "${policies[@]}"; do
		json=$(N=$turns SEED=$seed EACH=$each DISTURB=$disturb "$tmp/tailcut" run --tasks "$tasks" --slots "$slots" --policy "$p" --seed "$seed" "${disturbed[@]}" --format json \
			--output "$tmp/out-$seed-$p" -- "${task[@]}" 2>/dev/null)
		flow=$(field flow_seconds <<<"$json")
		printf '%-4s %-12s %8.2f %8d %7d %9.2f %10.2f   %s\n' "$seed" "$p" "$flow" "$(field attempts <<<"$json")" "$(field clones <<<"$json")" \
			"$(field fruitful_seconds <<<"$json")" "$(field fruitless_seconds <<<"$json")" "$(cut -d' ' -f1 /proc/loadavg)" | tee -a "$rows"
	done
done

median='{ x[NR] = $1 } END { m = (x[int((NR + 1) / 2)] + x[int((NR + 2) / 2)]) / 2;'
printf '\n%-12s %10s   %s\n' policy 'median s' 'fifo / policy: median (least to most)'
for p in "${policies[@]}"; do
	awk -v p="$p" '$2 == "fifo" { base[$1] = $3 } $2 == p { t[$1] = $3 } END { for (s in t) print t[s], (s in base ? base[s] / t[s] : 0) }' "$rows" >"$tmp/p"
	middle=$(cut -d' ' -f1 "$tmp/p" | sort -n | awk "$median"' printf "%.2f", m }')
	printf '%-12s %10s   %s\n' "$p" "$middle" "$(cut -d' ' -f2 "$tmp/p" | sort -n | awk "$median"' printf "%.2f (%.2f to %.2f)", m, x[1], x[NR] }')"
	echo "$p $middle" >>"$tmp/medians"
done
awk -v p="$beside" '$1 == p { own = $2; next } $1 != "fifo" && (!best || $2 < best) { best = $2; name = $1 }
	END { if (own && best) printf "\n%s / %s: %.3f, %s\n", p, name, own / best, own <= 1.05 * best ? "best or within 5 % of it" : "not within 5 % of the best" }' "$tmp/medians"
