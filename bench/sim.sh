#!/bin/sh
# Measures the simulator: a million tasks on 11,000 machines under several policies, and how the cost of an event grows with the cluster. Times are
# processor times of one core, so other programs disturb them less. With the file of an earlier run as argument the two are compared.
#
#   bench/sim.sh [OLD.txt]     COUNT=10 repetitions; the result goes to out/sim.txt
set -eu
cd "$(dirname "$0")/.."
mkdir -p out
go test -c -o out/sim.test ./sim
: >out/sim.txt
i=0
while [ "$i" -lt "${COUNT:-10}" ]; do
	# One process per benchmark: memory is counted per process.
	for b in 'MillionTasks/fifo' 'MillionTasks/spark' 'MillionTasks/srew' 'MillionTasks/fork' \
		'Machines/(fifo|spark|srew)/machines=1000$' 'Machines/(fifo|spark|srew)/machines=10000$' 'Machines/(fifo|spark|srew)/machines=100000$'; do
		(cd sim && GOMAXPROCS=1 ../out/sim.test -test.run '^$' -test.bench "$b" -test.benchtime 1x) | tee -a out/sim.txt
	done
	i=$((i + 1))
done
if [ $# -gt 0 ]; then
	go tool benchstat "$1" out/sim.txt
else
	go tool benchstat out/sim.txt
fi
