#!/usr/bin/env bash
# What the readings of each policy change: the mean flow time of each setting in bench/effects.tsv, divided by that of the
# policy's default, on four workloads at two loads. Writes docs/data/effects.csv, from which
# go test ./policy -run TestDocs -rewrite makes the tables of docs/explain/effects.md and of the policies' pages.
#
#   bench/effects.sh [OUT.csv [WORKLOAD...]]       (default docs/data/effects.csv, all workloads; RUNS=4)
#
# Two workloads are synthetic, two are traces from $TAILCUT_TRACES or ../shared/traces, which are left out where they are
# absent. All settings meet the same jobs and random draws in each repetition, so that ratios are of pairs; the intervals
# are those of Student's law for the mean logarithm of the ratio. Limits and progress reports are the defaults of
# tailcut simulate; the column "with" of bench/effects.tsv has further arguments, for the default and the reading alike.
# Where jobs have deadlines, the points by which the share met differs are there too. READINGS names another file of
# settings.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-docs/data/effects.csv}
[ $# -eq 0 ] || shift
traces=${TAILCUT_TRACES:-../shared/traces}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/tailcut" ./cmd/tailcut

cat >"$tmp/effects.py" <<'PY'
import csv, gzip, json, math, os, statistics, subprocess, sys
tailcut, traces, out, runs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
chosen = sys.argv[6:]
# name, workload of a repetition, further arguments
workloads = [
    ("short jobs", "synth:jobs=600;tasks=5;law=pareto:alpha=1.5,xm=10;arrivals=poisson:rate=0.2;seed=%d", []),
    ("long jobs", "synth:jobs=120;tasks=uniform:lo=20,hi=180;law=pareto:alpha=1.5,xm=10;arrivals=poisson:rate=0.02;seed=%d", []),
    ("google", traces + "/google-2011/GOOG_subtrace.first7000.tr.gz", ["--skip", "61", "--to", "1472400s"]),
    ("facebook", traces + "/swim-facebook/FB-2009_samples_24_times_1hr_0.tsv.gz", ["--to", "7200s"]),
]
loads = [0.5, 0.8]
student = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}

readings = list(csv.DictReader(open(sys.argv[5]), delimiter="\t"))
groups = {}  # settings by further arguments
for r in readings:
    groups.setdefault(r["with"], {}).update({r["default"]: 0, r["reading"]: 0})

def simulate(workload, more, machines, policies, repetitions, seed):
    command = [tailcut, "simulate", workload, *more, "--machines", str(machines), "--policy", ",".join(policies),
               "--runs", str(repetitions), "--seed", str(seed), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench/effects.sh: {' '.join(command)}:\n{done.stderr}")
    return json.loads(done.stdout)

def interval(values):
    mean, half = statistics.mean(values), student[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half

def busy(path, skip, to):
    """The slots of a .tr file that would be busy on average while jobs arrive if no task waited: tasks that last longer count until the last arrival."""
    jobs = [[float(x) for x in line.split()] for line in gzip.open(path, "rt")][skip:]
    jobs = [(job[0], job[3:]) for job in jobs if job[0] < to]
    first, last = jobs[0][0], jobs[-1][0]
    return sum(min(x, last - arrival) for arrival, tasks in jobs for x in tasks) / (last - first)

rows = []
for name, workload, more in workloads:
    if chosen and name not in chosen:
        continue
    synthetic = workload.startswith("synth:")
    if not synthetic and not os.path.exists(workload):
        print(f"bench/effects.sh: {workload} is not there: left out", file=sys.stderr)
        continue
    first = simulate(workload % 1 if synthetic else workload, more, 100000, ["fifo"], 1, 1)
    rate = first["results"][0]["fruitful_seconds"] / first["workload"]["horizon_seconds"]
    if name == "google":  # jobs arrive for 40 minutes, and a task of one lasts up to seven hours: at the whole work's load nobody would wait
        rate = busy(workload, int(more[1]), float(more[3].rstrip("s")))
    for load in loads:
        slots = max(1, round(rate / load))
        results = {}
        for arguments, settings in groups.items():
            given = more + arguments.split()
            for result in ([simulate(workload % k, given, slots, settings, 1, k) for k in range(1, runs + 1)] if synthetic
                           else [simulate(workload, given, slots, settings, runs, 1)]):
                for r in result["results"]:
                    results.setdefault((arguments, r["policy"]), []).append(r)
        for r in readings:
            normal, other = results[r["with"], r["default"]], results[r["with"], r["reading"]]
            flows = [[x["mean_flow_seconds"] for x in of] for of in (normal, other)]
            ratio = interval([math.log(b / a) for a, b in zip(*flows)])
            met = ["", "", ""]
            if normal[0].get("deadline_met_ratio") is not None:
                met = [f"{x:.1f}" for x in interval([100 * (b["deadline_met_ratio"] - a["deadline_met_ratio"]) for a, b in zip(normal, other)])]
            rows.append([r["policy"], r["default"], r["reading"], r["source"], r["with"], name, f"{load:g}", *(f"{statistics.mean(f):.4g}" for f in flows),
                         *(f"{math.exp(x):.3f}" for x in ratio), *met])
        print(f"{name}, load {load:g}: {slots} slots", file=sys.stderr)
with open(out, "w", newline="") as f:
    w = csv.writer(f, lineterminator="\n")
    w.writerow(["policy", "default", "reading", "source", "with", "workload", "load", "default_flow_seconds", "reading_flow_seconds", "ratio", "low", "high",
                "met_points", "met_low", "met_high"])
    w.writerows(rows)
PY
python3 "$tmp/effects.py" "$tmp/tailcut" "$traces" "$out" "${RUNS:-4}" "${READINGS:-bench/effects.tsv}" "$@"
