package reproduce

import "github.com/tailcut/tailcut/report"

// Claims of the papers that do not come out here at the tolerance that the papers' numbers allow. A claim that is not
// in these lists and fails is an error; one that is and holds is shown to hold.

var srewKnown = []report.Known{
	{
		What: "in every extract the mean is least at β = 0.7",
		Why: "On the surrogate the mean keeps falling up to β = 1. What β = 0.7 loses against 1 is lost by the twentieth of an extract's jobs that has the most work: with the " +
			"default seed these account for 68, 149 and 119 % of the difference in the three extracts, waiting while jobs keep arriving. We think that the paper's extracts " +
			"have fewer such jobs; they are not public.",
	},
}

var shedKnown = []report.Known{
	{
		What: "Dolly is no worse than Hadoop in any setting",
		Why: "Dolly's p is the share of jobs that are late under Hadoop. Where Hadoop meets most deadlines Dolly hardly clones: under contention, with 20 tasks and 620 s, 0.29 " +
			"clones a task, and 0.816 of the jobs are in time against Hadoop's 0.997. It is not that Hadoop hears of progress without error: with reports every 10 s that imply a " +
			"remaining time with an error of 100 % it has 0.990 and Dolly 0.863, without any reports 0.980 and 0.959. The paper's own Figure 5 has Dolly below Hadoop.",
	},
}

var geoKnown = []report.Known{
	{
		What: "attempts per task of GeoClone,",
		Why: "Line 10 of Algorithm 1, read literally, does not bind while slots are idle, so the count grows with the number of idle slots. The row with at most four attempts " +
			"has the paper's count by construction.",
	},
	{
		What: "attempts per task of Flutter+Dolly",
		Why:  "Dolly clones jobs of few tasks only. Here most tasks belong to larger jobs, so the 75th percentile over tasks is a task without a clone.",
	},
	{
		What: "high load: Flutter's attempts use 45 % of the slots",
		Why: "Durations are scaled so that 0.15 jobs per second would use 45 % of the slots for ever. Jobs arrive into an empty cluster for little longer than the largest of " +
			"them last, so the window ends before that.",
	},
}
