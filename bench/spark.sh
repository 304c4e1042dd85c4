#!/usr/bin/env bash
# Tailcut beside what a user would pick instead: Spark 4 in local mode, two cores each, speculation on.
#
#   bench/spark.sh [REPETITIONS]     (default 3; TASKS=40 SECONDS_EACH=0.4 FACTOR=8 SLOW="7 22 37" EMPTY=2000 POLICIES="fifo spark late-short")
#
# Four jobs:
#   files   the word count of the files below $(go env GOROOT)/src, without those that Spark skips (hidden ones) or unpacks (compressed ones)
#   file    the word count of the same text, four times over, in one file
#   array   an array of CPU-bound tasks of which the first attempts of some burn FACTOR times the processor time; clones are quick
#   empty   an array of tasks that do nothing: what a task costs
# Both systems run the same programs on the same data with the same slow tasks. Measured from outside: wall time of the whole process,
# processor time of everything it started, attempts that began. Spark is also asked how long the work took in a session that had started.
# Spark comes from PyPI, into a cache folder; Java is needed.
set -euo pipefail
cd "$(dirname "$0")/.."
repetitions=${1:-3} tasks=${TASKS:-40} each=${SECONDS_EACH:-0.4} factor=${FACTOR:-8} slow=${SLOW:-7 22 37} empty=${EMPTY:-2000}
read -ra policies <<<"${POLICIES:-fifo spark late-short}"
source bench/pyspark.bash
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/tailcut" ./cmd/tailcut
src=$tmp/src
cp -r "$(go env GOROOT)/src" "$src"
find "$src" -type f \( -name '*.gz' -o -name '*.bz2' -o -name '*.zst' -o -name '*.xz' -o -name '*.deflate' \) -delete
find "$src" -mindepth 1 -depth \( -name '_*' -o -name '.*' \) -exec rm -r {} +
mkdir "$tmp/one"
for _ in 1 2 3 4; do find "$src" -type f -exec awk 1 {} +; done >"$tmp/one/text"

# measure COMMAND...: wall seconds until it ends, and processor seconds of all that it leaves to be waited for, orphans too.
cat >"$tmp/measure.py" <<'PY'
import ctypes, os, resource, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
log = open(sys.argv[1], "wb")
begun = time.monotonic()
p = subprocess.Popen(sys.argv[2:], stdout=log, stderr=log)
code = p.wait()
wall = time.monotonic() - begun
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{wall:.2f} {r.ru_utime + r.ru_stime:.2f}")
sys.exit(code)
PY

# task.sh INDEX ATTEMPT: the array job's program.
cat >"$tmp/task.sh" <<'SH'
#!/bin/sh
echo "$1 $2" >>"$BEGAN"
n=$TURNS
case " $SLOW " in *" $1 "*) [ "$2" = 0 ] && n=$((n * FACTOR)) ;; esac
i=0; while [ $i -lt $n ]; do i=$((i+1)); done
echo "$1"
SH
chmod +x "$tmp/task.sh"

cat >"$tmp/session.py" <<'PY'
import os, time
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[2]").config("spark.speculation", "true").config("spark.ui.enabled", "false")
         .config("spark.sql.shuffle.partitions", "2").config("spark.sql.files.openCostInBytes", "16384").getOrCreate())  # many small files
begun = time.monotonic()
def end():
    with open(os.environ["INSIDE"], "w") as f:
        f.write(f"{time.monotonic() - begun:.2f}")
    spark.stop()
PY

cat >"$tmp/spark_count.py" <<'PY'
import sys
from session import spark, end
from pyspark.sql import functions as f
lines = spark.read.option("recursiveFileLookup", "true").text(sys.argv[1])
words = lines.select(f.explode(f.split("value", "[ \\t\\x0b\\f\\r]+")).alias("w")).where("w != ''")
words.groupBy("w").count().sortWithinPartitions("w").select(f.concat_ws("\t", "w", "count")).write.text(sys.argv[2])
end()
PY

cat >"$tmp/spark_array.py" <<'PY'
import subprocess, sys
from pyspark import TaskContext
from session import spark, end
program, n, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]  # a worker has arguments of its own
def run(rows):
    for i in rows:
        if program == "-":
            yield i
            continue
        yield subprocess.run([program, str(i), str(TaskContext.get().attemptNumber())], capture_output=True, text=True, check=True).stdout.strip()
spark.sparkContext.parallelize(range(n), n).mapPartitions(run).saveAsTextFile(out)
end()
PY

turns=$(for _ in 1 2 3 4 5; do # of the loop in so many seconds, from the quickest of five tries
	begun=$EPOCHREALTIME
	BEGAN=/dev/null TURNS=200000 SLOW='' sh "$tmp/task.sh" 0 0 >/dev/null
	awk -v a="$begun" -v b="$EPOCHREALTIME" -v s="$each" 'BEGIN { printf "%d\n", 200000 * s / (b - a) }'
done | sort -n | tail -n1)
export TURNS=$turns FACTOR=$factor SLOW=$slow PYSPARK_PYTHON=$python SPARK_LOCAL_IP=127.0.0.1 BEGAN=$tmp/began INSIDE=$tmp/inside

row() { # JOB SYSTEM COMMAND...
	local job=$1 system=$2 m
	shift 2
	: >"$BEGAN"
	echo - >"$INSIDE"
	m=$("$python" "$tmp/measure.py" "$tmp/log" "$@") || { tail -n 20 "$tmp/log" >&2; exit 1; }
	printf '%-6s %-18s %8s %8s %8s %8s %7s   %s\n' "$job" "$system" ${m% *} "$(cat "$INSIDE")" ${m#* } "$(wc -l <"$BEGAN")" \
		"$(awk '$2 > 0' "$BEGAN" | wc -l)" "$(cut -d' ' -f1 /proc/loadavg)" | tee -a "$tmp/rows"
}

"$python" -c 'import pyspark; print("Spark", pyspark.__version__)'
printf '%s tasks of %s s; first attempts of tasks %s take %s times as long\n' "$tasks" "$each" "$slow" "$factor"
printf '%d files, %d MB; %d MB in one file; %d empty tasks\n\n' "$(find "$src" -type f | wc -l)" \
	"$(($(find "$src" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }') / 1000000))" "$(($(stat -c %s "$tmp/one/text") / 1000000))" "$empty"
printf '%-6s %-18s %8s %8s %8s %8s %7s   load\n' job system wall_s inside_s cpu_s attempts clones
run=("$tmp/tailcut" run --slots 2)
for ((r = 1; r <= repetitions; r++)); do
	for job in files file; do
		from=$src
		[ $job = file ] && from=$tmp/one
		row $job tailcut "${run[@]}" wordcount "$from" --reducers 2 --output "$tmp/t$r-$job"
		row $job spark "$python" "$tmp/spark_count.py" "$from" "$tmp/s$r-$job"
	done
	for p in "${policies[@]}"; do
		row array "tailcut $p" "${run[@]}" --tasks "$tasks" --policy "$p" --output "$tmp/t$r-$p" -- sh -c "\"$tmp/task.sh\" {} \$TAILCUT_ATTEMPT"
	done
	row array spark "$python" "$tmp/spark_array.py" "$tmp/task.sh" "$tasks" "$tmp/s$r-array"
	row empty tailcut "${run[@]}" --tasks "$empty" --output "$tmp/t$r-empty" -- true
	row empty spark "$python" "$tmp/spark_array.py" - "$empty" "$tmp/s$r-empty"
done

# The same answers: all words and their counts, where a line is text; all indexes once.
words() { # invalid UTF-8 is replaced by Spark, so a few words differ
	cat "$@" | LC_ALL=C awk -F'\t' '{ n++; sum += $2 } END { printf "%d words, %d in all", n, sum }'
}
for job in files file; do
	printf '\n%s: tailcut counted %s\n%s: spark   counted %s\n' $job "$(words "$tmp/t1-$job"/part-*)" $job "$(words "$tmp/s1-$job"/part-*)"
done
for d in "$tmp/t1-${policies[0]}" "$tmp/s1-array"; do
	[ "$(cat "$d"/part-* | sort -n | uniq | wc -l)" = "$tasks" ] || { echo "$d: results are missing" >&2; exit 1; }
done

printf '\n%-6s %-18s %8s %8s %8s %7s   medians\n' job system wall_s inside_s cpu_s clones
sed 's/^\([a-z]* *tailcut\) \([a-z]\)/\1:\2/' "$tmp/rows" | awk '{ print $1, $2 }' | awk '!seen[$0]++' | while read -r job system; do
	med() { sed 's/^\([a-z]* *tailcut\) \([a-z]\)/\1:\2/' "$tmp/rows" | awk -v j="$job" -v s="$system" -v c="$1" '$1 == j && $2 == s { print $c }' |
		sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }
	printf '%-6s %-18s %8s %8s %8s %7s\n' "$job" "$system" "$(med 3)" "$(med 4)" "$(med 5)" "$(med 7)"
done
