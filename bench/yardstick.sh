#!/usr/bin/env bash
# All policies that need neither deadlines nor sites, on the same real jobs: the tables of docs/explain/yardstick.md, in Markdown.
#
#   bench/yardstick.sh [LOAD...]     (default 0.5 0.7 0.9; RUNS=5)
#
# The jobs are the first 7,000 of the Google trace of 2011 as the Hawk simulator has them, without the 61 that came long
# before the others, from $TAILCUT_TRACES or ../shared/traces. The cluster has as many slots as give the load: work divided
# by the time in which jobs arrive, divided by slots. An attempt after the first lasts as long as a random task of its job.
# Limits on clones are the defaults. Policies that decide by progress are told at each launch when the attempt will end;
# one column is for the same policies with reports at an interval instead, as they have them outside of simulations.
set -euo pipefail
cd "$(dirname "$0")/.."
workload=${TAILCUT_TRACES:-../shared/traces}/google-2011/GOOG_subtrace.first7000.tr.gz
[ -e "$workload" ] || { echo "bench/yardstick.sh: expected $workload; say where the traces are with TAILCUT_TRACES" >&2; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/tailcut" ./cmd/tailcut
policies=$("$tmp/tailcut" policies --format json | python3 -c '
import json, sys
apart = {"chronos-clone", "chronos-restart", "chronos-resume", "laxity", "flutter", "geoclone", "iridium"}
names = [p["name"] for p in json.load(sys.stdin)["policies"] if p["name"] not in apart]
print(",".join(["fifo"] + [n for n in names if n != "fifo"]))')

cat >"$tmp/table.py" <<'PY'
import json, math, statistics, sys
load, result, reported = float(sys.argv[1]), json.load(open(sys.argv[2])), json.load(open(sys.argv[3]))
def runs_of(result):
    by = {}
    for r in result["results"]:
        by.setdefault(r["policy"], []).append(r)
    return by
by, told = runs_of(result), runs_of(reported)
# Quantiles 0.975 of Student's law.
student = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}

def cell(values, digits=0):
    mean = round(statistics.mean(values), digits) + 0.0  # no -0
    half = 0 if len(values) < 2 else student.get(len(values), 1.96) * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:,.{digits}f}" + (f" ± {half:,.{digits}f}" if round(half, digits) > 0 else "")

runs, fifo = len(by["fifo"]), by["fifo"]
print(f"### Load {load:g}: {result['cluster']['slots']:,} slots, runs: {runs}\n")
print("| policy | mean flow (s) | against fifo (%) | with reports (%) | median (s) | p99 (s) | machine time (h) | fruitless (h) | fruitless (%) |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
for name, rows in sorted(by.items(), key=lambda x: statistics.mean(r["mean_flow_seconds"] for r in x[1])):
    of = lambda key: [r[key] for r in rows]
    against = [100 * (r["mean_flow_seconds"] / f["mean_flow_seconds"] - 1) for r, f in zip(rows, fifo)]
    reports = [100 * (r["mean_flow_seconds"] / f["mean_flow_seconds"] - 1) for r, f in zip(told.get(name, []), fifo)]
    total = [r["fruitful_seconds"] + r["fruitless_seconds"] for r in rows]
    wasted = [100 * r["fruitless_seconds"] / t for r, t in zip(rows, total)]
    print(f"| `{name}` | {cell(of('mean_flow_seconds'))} | {cell(against, 1) if name != 'fifo' else ''} | {cell(reports, 1) if reports else ''} | {cell(of('median_flow_seconds'))} | "
          f"{cell(of('p99_flow_seconds'))} | {cell([t / 3600 for t in total])} | {cell([x / 3600 for x in of('fruitless_seconds')])} | {cell(wasted, 1)} |")
print()
PY

# Slots of load 1: what arrives per second of the time in which jobs arrive.
rate=$("$tmp/tailcut" simulate "$workload" --skip 61 --machines 100000 --policy fifo --format json |
	python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["results"][0]["fruitful_seconds"] / r["workload"]["horizon_seconds"])')
[ $# -gt 0 ] || set -- 0.5 0.7 0.9
for load; do
	machines=$(python3 -c "print(round($rate / $load / 100) * 100)")
	simulate=("$tmp/tailcut" simulate "$workload" --skip 61 --machines "$machines" --runs "${RUNS:-5}" --format json)
	"${simulate[@]}" --policy "$policies" --progress exact >"$tmp/exact.json"
	told=$(python3 -c 'import json, sys; print(",".join(s["policy"] for s in json.load(sys.stdin)["summary"] if s["progress"] != "unused"))' <"$tmp/exact.json")
	"${simulate[@]}" --policy "$told" >"$tmp/reports.json"
	python3 "$tmp/table.py" "$load" "$tmp/exact.json" "$tmp/reports.json"
done
