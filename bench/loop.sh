#!/usr/bin/env bash
# Does the planner come true? Runs of a job, settings from their logs, runs with these, and what became of the prediction.
#
#   bench/loop.sh [SEEDS [FIRST]]     (default 10 from 1; KINDS="chance heavy host skew warm-up source" RUNS=5 TASKS=40 SLOTS=20 EACH=0.5 ROWS=FILE)
#
# The system is Tailcut's own engine with real processes that sleep, each run with RUNS seeds before and others after. Kinds of stragglers:
#   chance   one attempt in fifteen takes eight times as long
#   heavy    Pareto's law with shape 1.5, at most twelve times as long
#   host     attempts in one of ten places are slow for that run: each attempt draws its place
# Kinds where clones cannot help:
#   skew     the same three tasks take eight times as long, however often they are tried, in each run
#   warm-up  the first task in each slot takes three times as long
#   source   tasks that read from one of eight sources wait as long whoever asks, in each run
# A row says what was recommended, what was predicted and what was realised, with intervals. At the end stands how often the prediction was in the interval
# of what was realised, and how often something was recommended.
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=${1:-10} first=${2:-1} runs=${RUNS:-5} tasks=${TASKS:-40} slots=${SLOTS:-20}
export EACH=${EACH:-0.5}
read -ra kinds <<<"${KINDS:-chance heavy host skew warm-up source}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
source bench/outcomes.bash
rows=${ROWS:-$tmp/rows}
go build -o "$tmp/tailcut" ./cmd/tailcut

cat >"$tmp/task.pl" <<'PL'
use Digest::MD5 "md5";
sub u { unpack("N", md5("@_")) / 2**32 }
my ($kind, $seed, $run) = @ENV{"KIND", "SEED", "RUN"};
my ($task, $attempt) = @ENV{"TAILCUT_TASK", "TAILCUT_ATTEMPT"};
my @own = ($seed, $run, $task, $attempt);
my $x = 0.9 + 0.2 * u("even", @own);
$x *= 8 if $kind eq "chance" && u(@own) < 1 / 15;
if ($kind eq "heavy") { my $h = (1 - u(@own)) ** (-1 / 1.5); $x *= $h < 12 ? $h : 12 }
$x *= 8 if $kind eq "host" && int(10 * u(@own)) == int(10 * u("slow", $seed, $run));
if ($kind eq "skew") { for my $k (0 .. 2) { $x = 8 if $task == int($ENV{TAILCUT_TASKS} * u("skew", $seed, $k)) } }
$x *= 3 if $kind eq "warm-up" && $task < $ENV{SLOTS};
$x = 6 if $kind eq "source" && $task % 8 == int(8 * u("source", $seed));
select undef, undef, undef, $ENV{EACH} * $x;
PL

# go_run KIND SEED RUN POLICY: a run, whose folder it prints.
go_run() {
	local out=$tmp/$1-$2-$3
	KIND=$1 SEED=$2 RUN=$3 SLOTS=$slots "$tmp/tailcut" run --tasks "$tasks" --slots "$slots" --policy "$4" --seed "$3" --output "$out" -- perl "$tmp/task.pl" >"$tmp/log" 2>&1 || {
		cat "$tmp/log" >&2
		return 1
	}
	echo "$out"
}
heading
for ((seed = first; seed < first + seeds; seed++)); do
	for kind in "${kinds[@]}"; do
		before=() after=()
		for ((run = 1; run <= runs; run++)); do before+=("$(go_run "$kind" "$seed" "$run" fifo)"); done
		rule=$("$tmp/tailcut" plan explain "${before[@]}" --emit tailcut 2>/dev/null | sed -n 's/^--policy //p' | head -n1)
		if [ -z "$rule" ]; then
			nothing "$kind" "$seed" | tee -a "$rows"
		else
			for ((run = 101; run <= 100 + runs; run++)); do after+=(--after "$(go_run "$kind" "$seed" "$run" "$rule")"); done
			"$tmp/tailcut" plan verify "${before[@]}" "${after[@]}" --format json 2>/dev/null | outcome "$kind" "$seed" "$rule" | tee -a "$rows"
		fi
		rm -rf "$tmp/$kind-"*
	done
done
count "$rows" "${kinds[@]}"
