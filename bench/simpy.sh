#!/usr/bin/env bash
# The simulator beside a public one: SimPy, which anybody would write a FIFO cluster with in twenty lines of Python. Both read the same .tr file, run the
# jobs first come, first served, every task as long as recorded, and have to find the same mean flow time.
#
#   bench/simpy.sh [WORKLOAD.tr[.gz]]     (MACHINES=1000 REPETITIONS=3)
#
# Without a file: the first 7,000 jobs of the Google trace of 2011 as the Hawk simulator has them, from $TAILCUT_TRACES or ../shared/traces, or else 2,000 jobs
# drawn with a fixed seed. Measured from outside, reading included: the least processor time of some repetitions, and peak memory. SimPy comes from PyPI
# into a cache folder.
set -euo pipefail
cd "$(dirname "$0")/.."
machines=${MACHINES:-1000} repetitions=${REPETITIONS:-3}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tailcut-bench

[ -x "$cache/venv/bin/python" ] || python3 -m venv "$cache/venv"
python=$cache/venv/bin/python
"$python" -c 'import simpy' 2>/dev/null || "$cache/venv/bin/pip" install -q 'simpy>=4.1,<5'
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/tailcut" ./cmd/tailcut

workload=${1:-${TAILCUT_TRACES:-../shared/traces}/google-2011/GOOG_subtrace.first7000.tr.gz}
if [ ! -e "$workload" ] && [ $# -eq 0 ]; then
	workload=$tmp/drawn.tr
	"$python" - "$workload" "$machines" <<'PY'
import random, sys
rng, at = random.Random(1), 0.0
with open(sys.argv[1], "w") as out:
    for _ in range(2000):
        at += rng.expovariate(0.8 * float(sys.argv[2]) / 3000)
        d = [rng.paretovariate(1.5) * 10 for _ in range(100)]
        print(at, len(d), sum(d) / len(d), *d, file=out)
PY
fi

cat >"$tmp/fifo.py" <<'PY'
import gzip, sys
import simpy

def task(env, slots, job, duration):
    with slots.request() as slot:
        yield slot
        yield env.timeout(duration)
    job[1] = env.now

def arrivals(env, slots, lines, jobs):
    for line in lines:
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        at = float(fields[0])
        yield env.timeout(max(0, at - env.now))
        job = [env.now, env.now]  # arrival, completion
        jobs.append(job)
        for duration in fields[3:]:
            env.process(task(env, slots, job, float(duration)))

path, machines = sys.argv[1], int(sys.argv[2])
with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
    env, jobs = simpy.Environment(), []
    env.process(arrivals(env, simpy.Resource(env, capacity=machines), lines, jobs))
    env.run()
print(sum(end - begin for begin, end in jobs) / len(jobs))
PY

cat >"$tmp/compare.py" <<'PY'
import json, os, resource, subprocess, sys
tailcut, fifo, workload, machines, repetitions = *sys.argv[1:5], int(sys.argv[5])

def measure(command):
    """Returns processor seconds, peak megabytes and output; of the command alone, for it runs in a process of its own."""
    r, w = os.pipe()
    if os.fork() == 0:
        out = subprocess.run(command, stdout=subprocess.PIPE, check=True, env={**os.environ, "GOMAXPROCS": "1"}).stdout.decode()
        u = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(w, json.dumps([u.ru_utime + u.ru_stime, u.ru_maxrss / 1024, out]).encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        text = f.read()
    os.wait()
    return json.loads(text)

ours = [tailcut, "simulate", workload, "--machines", machines, "--policy", "fifo", "--service", "recorded", "--format", "json"]
theirs = [sys.executable, fifo, workload, machines]
a, b = [], []
for _ in range(repetitions):  # in turns
    a.append(measure(ours))
    b.append(measure(theirs))
result = json.loads(a[0][2])
tasks, flow, other = result["workload"]["tasks"], result["results"][0]["mean_flow_seconds"], float(b[0][2])
print(f"{result['workload']['jobs']} jobs, {tasks} tasks, {machines} machines, FIFO; least of {repetitions}")
print(f"{'':10}{'CPU s':>10}{'tasks/s':>12}{'peak MB':>10}   mean flow s")
for name, runs, mean in (("tailcut", a, flow), ("SimPy", b, other)):
    cpu, peak = min(r[0] for r in runs), max(r[1] for r in runs)
    print(f"{name:10}{cpu:10.2f}{tasks / cpu:12,.0f}{peak:10.0f}   {mean:.6f}")
if abs(flow - other) > 1e-6 * other:
    sys.exit("the mean flow times differ")
PY
"$python" "$tmp/compare.py" "$tmp/tailcut" "$tmp/fifo.py" "$workload" "$machines" "$repetitions"
