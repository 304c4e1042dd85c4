#!/usr/bin/env bash
# Does the planner come true on Spark? As bench/loop.sh, but with Spark 4, its event logs, and its settings as `plan explain` prints them.
#
#   bench/loop-spark.sh [SEEDS [FIRST]]     (default 10 from 1; KINDS="chance heavy host skew warm-up source" RUNS=3 TASKS=40 EACH=1 HOSTS=3 CORES=7 KEEP=FOLDER ROWS=FILE TAILCUT=PROGRAM)
#
# A standalone cluster of HOSTS workers on 127.0.0.2 and following, with CORES slots each. Runs under the same settings share an application, because starting
# executors takes longer than a run. Each run has an event log of its own, which Spark's own EventLoggingListener writes.
# A run is a stage of TASKS tasks that sleep. Kinds of stragglers:
#   chance   one attempt in fifteen takes eight times as long
#   heavy    Pareto's law with shape 1.5, at most twelve times as long
#   host     attempts on one of the hosts, another in each run, take eight times as long
# Kinds where clones cannot help:
#   skew     the same three tasks take eight times as long, however often they are tried, in each run
#   warm-up  the first task in each slot takes three times as long
#   source   tasks that read from one of eight sources wait as long whoever asks, in each run
# The runs after have the seeds of the runs before, so first attempts take the same, but for the slow host and cold workers. KEEP keeps the logs.
# Spark comes from PyPI, into a cache folder; Java is needed.
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=${1:-10} first=${2:-1} hosts=${HOSTS:-3}
export RUNS=${RUNS:-3} TASKS=${TASKS:-40} EACH=${EACH:-1} CORES=${CORES:-7} SLOTS=$((${HOSTS:-3} * ${CORES:-7})) LOOP_HOSTS=$hosts
read -ra kinds <<<"${KINDS:-chance heavy host skew warm-up source}"
source bench/pyspark.bash
source bench/outcomes.bash
tmp=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$tmp"' EXIT
rows=${ROWS:-$tmp/rows} logs=${KEEP:-$tmp}
mkdir -p "$logs"
: >"$tmp/none"
if [ -n "${TAILCUT:-}" ]; then cp "$TAILCUT" "$tmp/tailcut"; else go build -o "$tmp/tailcut" ./cmd/tailcut; fi

export SPARK_HOME SPARK_WORKER_DIR=$tmp/work SPARK_DAEMON_MEMORY=128m SPARK_DAEMON_JAVA_OPTS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SPARK_HOME=$("$python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
port=$((20000 + RANDOM % 10000))
export MASTER=spark://127.0.0.1:$port
class=$SPARK_HOME/bin/spark-class
SPARK_LOCAL_IP=127.0.0.1 "$class" org.apache.spark.deploy.master.Master --host 127.0.0.1 --port $port --webui-port 0 >"$tmp/master" 2>&1 &
started+=($!)
for ((h = 0; h < hosts; h++)); do
	ip=127.0.0.$((h + 2))
	LOOP_HOST=$h SPARK_LOCAL_IP=$ip "$class" org.apache.spark.deploy.worker.Worker --host $ip --cores "$CORES" --memory 1g --webui-port 0 "$MASTER" >"$tmp/worker$h" 2>&1 &
	started+=($!)
done

cat >"$tmp/Loop.java" <<'JAVA'
import java.io.*;
import java.net.URI;
import java.util.*;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.spark.*;
import org.apache.spark.scheduler.*;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.VoidFunction;

/** The driver: each line of its input is KIND SEED FOLDER DEFAULTS. Lines with the same DEFAULTS share an application. */
public class Loop {
	static int env(String name) { return Integer.parseInt(System.getenv(name)); }

	/** The work of a task, which sleeps. */
	static class Work implements VoidFunction<Iterator<Integer>> {
		static final Map<String, Integer> started = new HashMap<>(); // on this executor, by run
		final String kind;
		final long seed, run;
		final int tasks, hosts;
		final double each;

		Work(String kind, long seed, long run, int tasks, int hosts, double each) {
			this.kind = kind; this.seed = seed; this.run = run; this.tasks = tasks; this.hosts = hosts; this.each = each;
		}

		/** A number from 0 to 1 that is chance, but always the same for the same words. */
		static double u(Object... words) {
			long h = 1125899906842597L;
			for (Object w : words) { h ^= w.hashCode() * 0x9E3779B97F4A7C15L; h = (h ^ (h >>> 30)) * 0xBF58476D1CE4E5B9L; h = (h ^ (h >>> 27)) * 0x94D049BB133111EBL; h ^= h >>> 31; }
			return (h >>> 11) / (double) (1L << 53);
		}

		/** Tells once for each slot of the executor and each run that it is cold. */
		static synchronized boolean first(String run) { return started.merge(run, 1, Integer::sum) <= env("CORES"); }

		public void call(Iterator<Integer> rows) throws Exception {
			int task = TaskContext.get().partitionId(), attempt = TaskContext.get().attemptNumber(), host = env("LOOP_HOST");
			double x = 0.9 + 0.2 * u("even", seed, run, task, attempt), chance = u(seed, run, task, attempt);
			switch (kind) {
			case "chance": if (chance < 1 / 15.0) x *= 8; break;
			case "heavy": x *= Math.min(12, Math.pow(1 - chance, -1 / 1.5)); break;
			case "host": if (host == (int) (hosts * u("slow", seed, run))) x *= 8; break;
			case "skew": for (int k = 0; k < 3; k++) if (task == (int) (tasks * u("skew", seed, k))) x = 8; break;
			case "warm-up": if (first(seed + " " + run)) x *= 3; break;
			case "source": if (task % 8 == (int) (8 * u("source", seed))) x = 6; break;
			}
			Thread.sleep((long) (1000 * each * x));
		}
	}

	/** What a log of one run has to begin with, kept from the application. */
	public static class Kept extends SparkListener {
		static final List<SparkListenerExecutorAdded> executors = new CopyOnWriteArrayList<>();
		static volatile SparkListenerEnvironmentUpdate environment;
		static volatile SparkListenerApplicationStart start;

		@Override public void onExecutorAdded(SparkListenerExecutorAdded e) { executors.add(e); }
		@Override public void onEnvironmentUpdate(SparkListenerEnvironmentUpdate e) { environment = e; }
		@Override public void onApplicationStart(SparkListenerApplicationStart e) { start = e; }
	}

	static List<Integer> range(int n) {
		List<Integer> all = new ArrayList<>();
		for (int i = 0; i < n; i++) all.add(i);
		return all;
	}

	/** An application, under the settings of a file, whose classes are loaded. */
	static JavaSparkContext open(String defaults) throws Exception {
		int slots = env("SLOTS");
		SparkConf conf = new SparkConf().setAppName("loop").setMaster(System.getenv("MASTER")).setJars(new String[]{System.getenv("JAR")});
		Properties settings = new Properties();
		try (Reader file = new FileReader(defaults)) { settings.load(file); }
		for (String key : settings.stringPropertyNames()) conf.set(key, settings.getProperty(key));
		conf.set("spark.driver.host", "127.0.0.1").set("spark.ui.enabled", "false").set("spark.executor.memory", "512m").set("spark.executor.cores", System.getenv("CORES"));
		conf.set("spark.cores.max", "" + slots).set("spark.scheduler.minRegisteredResourcesRatio", "1.0").set("spark.scheduler.maxRegisteredResourcesWaitingTime", "900s");
		conf.set("spark.network.timeout", "900s").set("spark.extraListeners", "Loop$Kept").set("spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
		Kept.executors.clear();
		JavaSparkContext sc = new JavaSparkContext(conf);
		for (int i = 0; i < 3; i++) sc.parallelize(range(4 * slots), 4 * slots).foreachPartition(new Work("none", 0, i, 1, 1, 0.1));
		return sc;
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		int tasks = env("TASKS"), hosts = env("LOOP_HOSTS"), runs = env("RUNS");
		String opened = "";
		JavaSparkContext sc = null;
		for (String line; (line = in.readLine()) != null; System.out.println("done")) {
			String[] w = line.split(" ");
			if (!opened.equals(w[3])) {
				if (sc != null) sc.close();
				sc = open(opened = w[3]);
			}
			for (int run = 1; run <= runs; run++) {
				EventLoggingListener log = new EventLoggingListener(sc.sc().applicationId() + "-" + w[0] + run, scala.Option.empty(), new URI("file://" + w[2]), sc.getConf());
				log.start();
				SparkListenerApplicationStart s = Kept.start;
				log.onApplicationStart(new SparkListenerApplicationStart("loop " + w[0], s.appId(), System.currentTimeMillis(), s.sparkUser(), s.appAttemptId(), s.driverLogs(), s.driverAttributes()));
				log.onEnvironmentUpdate(Kept.environment);
				for (SparkListenerExecutorAdded e : Kept.executors) log.onExecutorAdded(new SparkListenerExecutorAdded(System.currentTimeMillis(), e.executorId(), e.executorInfo()));
				sc.sc().addSparkListener(log);
				sc.parallelize(range(tasks), tasks).foreachPartition(new Work(w[0], Long.parseLong(w[1]), run, tasks, hosts, Double.parseDouble(System.getenv("EACH"))));
				sc.sc().listenerBus().waitUntilEmpty();
				sc.sc().removeSparkListener(log);
				log.onApplicationEnd(new SparkListenerApplicationEnd(System.currentTimeMillis(), scala.Option.empty()));
				log.stop();
			}
		}
		if (sc != null) sc.close();
	}
}
JAVA
export JAR=$tmp/loop.jar
mkdir "$tmp/classes"
javac -nowarn -cp "$SPARK_HOME/jars/*" -d "$tmp/classes" "$tmp/Loop.java" 2>"$tmp/javac" || { cat "$tmp/javac" >&2; exit 1; }
jar cf "$JAR" -C "$tmp/classes" .
coproc driver { SPARK_LOCAL_IP=127.0.0.1 "$SPARK_HOME/bin/spark-submit" --driver-memory 512m --driver-java-options "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" --class Loop --properties-file "$tmp/none" "$JAR" 2>"$tmp/driver"; }
started+=("$driver_PID")

# runs KIND SEED FOLDER DEFAULTS: runs of the job, whose event logs go to the folder, with the settings of a file like spark-defaults.conf.
runs() {
	if [ -e "$3.done" ]; then return; fi # of an earlier call with the same KEEP
	rm -rf "$3"
	mkdir -p "$3"
	echo "$1 $2 $3 $4" >&"${driver[1]}"
	local answer
	read -r answer <&"${driver[0]}" || { tail -n 30 "$tmp/driver" >&2; return 1; }
	: >"$3.done"
}
"$python" -c 'import pyspark; print("Spark", pyspark.__version__)'
for ((seed = first; seed < first + seeds; seed++)); do
	for kind in "${kinds[@]}"; do runs "$kind" "$seed" "$logs/$kind-$seed/before" "$tmp/none"; done
done
heading
for ((seed = first; seed < first + seeds; seed++)); do
	for kind in "${kinds[@]}"; do
		at=$logs/$kind-$seed
		"$tmp/tailcut" plan explain "$at/before" --emit spark >"$at/spark-defaults.conf" 2>"$at/explain.err"
		if ! grep -q '^spark' "$at/spark-defaults.conf"; then
			nothing "$kind" "$seed" | tee -a "$rows"
			continue
		fi
		runs "$kind" "$seed" "$at/after" "$at/spark-defaults.conf"
		rule=$(sed -n 's/^spark.speculation.\(quantile\|multiplier\)=/\1=/p' "$at/spark-defaults.conf" | paste -sd,)
		"$tmp/tailcut" plan verify "$at/before" "$at/after" --format json 2>"$at/verify.err" | outcome "$kind" "$seed" "$rule" | tee -a "$rows"
	done
done
count "$rows" "${kinds[@]}"
