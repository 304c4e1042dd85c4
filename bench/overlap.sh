#!/usr/bin/env bash
# How fast is `tailcut overlap` beside a plain C++ simulator? Processor time of the whole process: drawing the jobs, simulating one policy, its mean, median,
# p99, maximum and slowdown. The C++ program, bench/overlap/fluid.cpp, is compiled with g++ -O2 and computes no lower bound; tailcut runs without and with it.
#
#   bench/overlap.sh [JOBS [ROUNDS]]      (default 1e7 and 3; LOAD=0.9 TAILCUT=PROGRAM)
#
# First both simulate the same 20,000 jobs, and the mean flow times must agree. Then they take turns, each with one thread. A ratio is the C++ program's
# processor time over tailcut's in the same round: above 1 tailcut is faster. The random numbers of the two programs differ; the law of the jobs does not.
set -euo pipefail
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
g++ -O2 -std=c++17 -o "$tmp/fluid" bench/overlap/fluid.cpp
if [ -n "${TAILCUT:-}" ]; then cp "$TAILCUT" "$tmp/tailcut"; else go build -o "$tmp/tailcut" ./cmd/tailcut; fi
python3 - "$tmp" "${1:-1e7}" "${2:-3}" "${LOAD:-0.9}" <<'PY'
import csv, io, math, os, random, resource, statistics, subprocess, sys
tmp, jobs, rounds, load = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
policies = ["maxsrpt", "splitsrpt", "klps"]

def lognormal(sd):
    v = math.log(1 + sd * sd)
    return math.exp(random.gauss(-v / 2, math.sqrt(v)))

random.seed(1)
clock, lines = 0.0, ["arrival,map,shuffle"]
for _ in range(20000):
    clock += random.expovariate(float(load))
    x = lognormal(3.65)
    lines.append(f"{clock!r},{x!r},{x * lognormal(3.28)!r}")
text = "\n".join(lines) + "\n"
for p in policies:
    plain = float(subprocess.run([tmp + "/fluid", p, "-"], input=text, capture_output=True, text=True, check=True).stdout.split(",")[1])
    out = subprocess.run([tmp + "/tailcut", "overlap", "-", "--policy", p, "--format", "csv"], input=text, capture_output=True, text=True, check=True).stdout
    ours = float(next(csv.DictReader(io.StringIO(out)))["mean_flow_seconds"])
    if abs(plain / ours - 1) > 1e-7:
        sys.exit(f"{p}: the mean flow times {plain} and {ours} differ")

def spent(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=dict(os.environ, GOMAXPROCS="1"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

print(f"{'policy':10} {'C++ (s)':>8} {'no bound':>8} {'bound':>8}   ratios without the bound, and with it")
for p in policies:
    rows = []
    for _ in range(rounds):
        ours = [tmp + "/tailcut", "overlap", "--synthetic", "lognormal", "--jobs", jobs, "--load", load, "--policy", p]
        rows.append((spent(tmp + "/fluid", p, jobs, load, "1"), spent(*ours, "--bound", "none"), spent(*ours)))
    mid = [statistics.median(r[i] for r in rows) for i in range(3)]
    ratios = "  ".join(" ".join(f"{r[0] / r[i]:.2f}" for r in rows) for i in (1, 2))
    print(f"{p:10} {mid[0]:8.2f} {mid[1]:8.2f} {mid[2]:8.2f}   {ratios}")
PY
