package policy

import "github.com/tailcut/tailcut/policy/kit"

// Where the rules stand that come from programs: releases whose sources were read; of Hadoop 0.20.2 the released
// classes.

// Releases.
const (
	spark4  = "Spark 4.0.1"
	sparkV3 = "Spark 3.5.6"
	hadoop0 = "Hadoop 0.20.2"
	hadoop3 = "Hadoop 3.4.1"
	flink1  = "Flink 1.20.1"
)

// Folders.
const (
	sparkCore   = "core/src/main/scala/org/apache/spark/"
	taskSets    = sparkCore + "scheduler/TaskSetManager.scala"
	sparkConfig = sparkCore + "internal/config/package.scala"
	mapred      = "src/mapred/org/apache/hadoop/mapred/"
	mapreduce   = "hadoop-mapreduce-project/hadoop-mapreduce-client/"
	mrApp       = mapreduce + "hadoop-mapreduce-client-app/src/main/java/org/apache/hadoop/mapreduce/v2/app/"
	mrCore      = mapreduce + "hadoop-mapreduce-client-core/src/main/java/org/apache/hadoop/mapreduce/"
	yarn        = "hadoop-yarn-project/hadoop-yarn/hadoop-yarn-server/hadoop-yarn-server-resourcemanager/src/main/java/org/apache/hadoop/yarn/server/resourcemanager/scheduler/capacity/"
	flinkMain   = "flink-runtime/src/main/java/org/apache/flink/runtime/"
	flinkConfig = "flink-core/src/main/java/org/apache/flink/configuration/"
)

var sparkCode = []kit.Code{
	{Rule: "which tasks are marked, and after how many winners", Version: spark4, File: taskSets, Function: "TaskSetManager.checkSpeculatableTasks, .checkAndSubmitSpeculatableTasks"},
	{Rule: "median", Version: spark4, File: sparkCore + "util/collection/PercentileHeap.scala", Function: "PercentileHeap.percentile"},
	{Rule: "which stages `task_threshold` is for", Version: spark4, File: taskSets, Function: "TaskSetManager.speculationTasksLessEqToSlots"},
	{Rule: "which mark is served first, and where", Version: spark4, File: taskSets, Function: "TaskSetManager.dequeueTaskFromList"},
	{Rule: "`clones=job`: fresh tasks of a set first", Version: spark4, File: taskSets, Function: "TaskSetManager.dequeueTask"},
	{Rule: "`clones=job`: one set after the other", Version: spark4, File: sparkCore + "scheduler/TaskSchedulerImpl.scala", Function: "TaskSchedulerImpl.resourceOffers"},
	{Rule: "defaults", Version: spark4, File: sparkConfig, Function: "SPECULATION_QUANTILE, _MULTIPLIER, _INTERVAL, _MIN_THRESHOLD, _TASK_DURATION_THRESHOLD"},
	{Rule: "defaults of `spark3`", Version: sparkV3, File: sparkConfig, Function: "SPECULATION_QUANTILE, _MULTIPLIER"},
}

var hadoopCode = []kit.Code{
	{Rule: "which task is slow, `gap`, `lag`", Version: hadoop0, File: mapred + "TaskInProgress.java", Function: "TaskInProgress.hasSpeculativeTask, SPECULATIVE_GAP, SPECULATIVE_LAG"},
	{Rule: "first slow task, not where it ran before", Version: hadoop0, File: mapred + "JobInProgress.java", Function: "JobInProgress.findSpeculativeTask"},
	inAJob, amongJobs,
}

// A job's tasks, and the jobs, as Hadoop before YARN served them.
var (
	inAJob    = kit.Code{Rule: "`clones=job`: fresh tasks of a job first", Version: hadoop0, File: mapred + "JobInProgress.java", Function: "JobInProgress.findNewMapTask"}
	amongJobs = kit.Code{Rule: "`clones=job`: one job after the other", Version: hadoop0, File: mapred + "JobQueueTaskScheduler.java", Function: "JobQueueTaskScheduler.assignTasks"}
)

var lateCode = []kit.Code{inAJob, amongJobs}

var hadoop2Code = []kit.Code{
	{Rule: "which task is cloned, and when a scan comes", Version: hadoop3, File: mrApp + "speculate/DefaultSpeculator.java", Function: "DefaultSpeculator.maybeScheduleASpeculation, .speculationValue, .computeSpeculations"},
	{Rule: "5 % of a stage's tasks first", Version: hadoop3, File: mrApp + "speculate/StartEndTimesBase.java", Function: "StartEndTimesBase.thresholdRuntime"},
	{Rule: "`estimator=legacy`", Version: hadoop3, File: mrApp + "speculate/LegacyTaskRuntimeEstimator.java", Function: "LegacyTaskRuntimeEstimator.updateAttempt"},
	{Rule: "`estimator=simple-exponential`", Version: hadoop3, File: mrApp + "speculate/SimpleExponentialTaskRuntimeEstimator.java", Function: "SimpleExponentialTaskRuntimeEstimator.estimatedRuntime, .estimatedNewAttemptRuntime"},
	{Rule: "smoothing, `smooth`, `skip`", Version: hadoop3, File: mrApp + "speculate/forecast/SimpleExponentialSmoothing.java", Function: "SimpleExponentialSmoothing.incorporateReading"},
	{Rule: "default of `estimator`", Version: hadoop3, File: mrApp + "speculate/DefaultSpeculator.java", Function: "DefaultSpeculator.getEstimator"},
	{Rule: "other defaults", Version: hadoop3, File: mrCore + "MRJobConfig.java", Function: "DEFAULT_SPECULATIVE_*, DEFAULT_MR_AM_TASK_ESTIMATOR_SIMPLE_SMOOTH_*"},
	{Rule: "`clones=job`: a speculator for each job", Version: hadoop3, File: mrApp + "MRAppMaster.java", Function: "MRAppMaster.createSpeculator"},
}

var flinkCode = []kit.Code{
	{Rule: "which attempts are slow", Version: flink1, File: flinkMain + "scheduler/slowtaskdetector/ExecutionTimeBasedSlowTaskDetector.java", Function: "ExecutionTimeBasedSlowTaskDetector.findSlowTasks"},
	{Rule: "how many attempts a slow task gets; `clones=job`", Version: flink1, File: flinkMain + "scheduler/adaptivebatch/DefaultSpeculativeExecutionHandler.java", Function: "DefaultSpeculativeExecutionHandler.notifySlowTasks"},
	{Rule: "which machines are blocked, and for how long", Version: flink1, File: flinkMain + "scheduler/adaptivebatch/DefaultSpeculativeExecutionHandler.java", Function: "DefaultSpeculativeExecutionHandler.blockSlowNodes"},
	{Rule: "a later block replaces an earlier one", Version: flink1, File: flinkMain + "blocklist/DefaultBlocklistTracker.java", Function: "DefaultBlocklistTracker.addNewBlockedNodes"},
	{Rule: "blocked machines take nothing", Version: flink1, File: flinkMain + "jobmaster/slotpool/BlocklistDeclarativeSlotPool.java", Function: "BlocklistDeclarativeSlotPool.offerSlots, .freeReservedSlot"},
	{Rule: "defaults", Version: flink1, File: flinkConfig + "SlowTaskDetectorOptions.java", Function: "CHECK_INTERVAL, EXECUTION_TIME_BASELINE_*"},
	{Rule: "default of `block`, two attempts", Version: flink1, File: flinkConfig + "BatchExecutionOptions.java", Function: "BLOCK_SLOW_NODE_DURATION, SPECULATIVE_MAX_CONCURRENT_EXECUTIONS"},
}

var capacityCode = []kit.Code{
	{Rule: "`user_check`", Version: hadoop3, File: yarn + "AbstractLeafQueue.java", Function: "AbstractLeafQueue.canAssignToUser"},
	{Rule: "limit of a user", Version: hadoop3, File: yarn + "UsersManager.java", Function: "UsersManager.computeUserLimit"},
	{Rule: "`cap`", Version: hadoop3, File: yarn + "AbstractCSQueue.java", Function: "AbstractCSQueue.canAssignToThisQueue"},
}

var (
	fifoCode = []kit.Code{
		{Rule: "order of jobs", Version: spark4, File: sparkCore + "scheduler/SchedulingAlgorithm.scala", Function: "FIFOSchedulingAlgorithm.comparator"},
		{Rule: "no job waits for another's tasks", Version: hadoop0, File: mapred + "JobQueueTaskScheduler.java", Function: "JobQueueTaskScheduler.assignTasks"},
	}
	fairCode = []kit.Code{
		{Rule: "order of jobs", Version: spark4, File: sparkCore + "scheduler/SchedulingAlgorithm.scala", Function: "FairSchedulingAlgorithm.comparator"},
	}
)
