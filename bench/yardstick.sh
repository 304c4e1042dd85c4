#!/usr/bin/env bash
# All policies that need neither deadlines nor sites on five workloads: the table of docs/explain/yardstick.md, in Markdown.
#
#   bench/yardstick.sh               (RUNS=5)
#
# Cells are mean flow times divided by that of the workload's best policy, run by run. Real traces are in
# $TAILCUT_TRACES or ../shared/traces; a workload whose trace is not there is left out. Limits on clones and progress
# reports are the defaults of tailcut simulate.
set -euo pipefail
cd "$(dirname "$0")/.."
traces=${TAILCUT_TRACES:-../shared/traces}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/tailcut" ./cmd/tailcut
policies=$("$tmp/tailcut" policies --format json | python3 -c '
import json, sys
apart = {"chronos-clone", "chronos-restart", "chronos-resume", "laxity", "flutter", "geoclone", "iridium"}
print(",".join(p["name"] for p in json.load(sys.stdin)["policies"] if p["name"] not in apart))')

# name, slots, what simulate reads
workloads=(
	"short|35|synth:jobs=400;tasks=pareto:alpha=1.5,xm=2;law=pareto:alpha=1.5,xm=10;arrivals=poisson:rate=0.15 --service law"
	"long|160|synth:jobs=100;tasks=uniform:lo=20,hi=200;law=lognormal:mean=60,sd=60;arrivals=poisson:rate=0.017 --service law"
	"Google|4000|$traces/google-2011/GOOG_subtrace.first7000.tr.gz --from 408h20m --to 408h40m"
	"Facebook|60|$traces/swim-facebook/FB-2009_samples_24_times_1hr_0.tsv.gz --to 1h --service sx"
	"Hadoop|1536|$traces/hadoop-rumen/19-jobs.trace.json.gz"
)
for w in "${workloads[@]}"; do
	IFS='|' read -r name slots input <<<"$w"
	read -ra args <<<"$input"
	case ${args[0]} in synth:*) ;; *) [ -e "${args[0]}" ] || { echo "bench/yardstick.sh: left out $name: no ${args[0]}" >&2; continue; } ;; esac
	"$tmp/tailcut" simulate "${args[@]}" --machines "$slots" --policy "$policies" --runs "${RUNS:-5}" --format json >"$tmp/$name.json" 2>"$tmp/notes" || { cat "$tmp/notes" >&2; exit 1; }
done

python3 - "$tmp" short long Google Facebook Hadoop <<'PY'
import json, math, os, statistics, sys
# Quantiles 0.975 of Student's law.
student = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
columns, use, told = {}, {}, {}
for name in sys.argv[2:]:
    path = f"{sys.argv[1]}/{name}.json"
    if not os.path.exists(path):
        continue
    result = json.load(open(path))
    flows = {}
    for r in result["results"]:
        flows.setdefault(r["policy"], []).append(r["mean_flow_seconds"])
        told[r["policy"]] = r["durations"]
    best = min(flows, key=lambda p: statistics.mean(flows[p]))
    columns[name] = {p: [x / b for x, b in zip(f, flows[best])] for p, f in flows.items()}
    use[name] = (result["cluster"]["slots"], statistics.mean(flows[best]), best, len(flows[best]))

def cell(ratios):
    mean, n = statistics.mean(ratios), len(ratios)
    half = student.get(n, 1.96) * statistics.stdev(ratios) / math.sqrt(n) if n > 1 else 0
    return f"{mean:.2f}" + (f" ± {half:.2f}" if half >= 0.005 else "")

policies = sorted(next(iter(columns.values())), key=lambda p: max(statistics.mean(c[p]) for c in columns.values()))
print("| policy | " + " | ".join(columns) + " | worst |")
print("| --- |" + " ---: |" * (len(columns) + 1))
for p in policies:
    worst = max(statistics.mean(c[p]) for c in columns.values())
    print(f"| `{p}` | " + " | ".join(cell(c[p]) for c in columns.values()) + f" | {worst:.2f} |")
print()
sources = {"finished": "from finished ones", "all": "from finished and running ones", "known": "stated by the workload"}
print("Durations of attempts: " + ", ".join(
    f"{text} (" + ", ".join(f"`{p}`" for p in policies if told[p] == source) + ")" for source, text in sources.items()) + ".")
print()
for name, (slots, flow, best, runs) in use.items():
    print(f"{name}: {slots} slots, best {best} with {flow:.1f} s, {runs} runs")
PY
