package policy

// Default is the policy of a run where nobody names one; DefaultAmongJobs is that of a server, where the job with the
// least left to do goes first, which keeps short jobs from waiting behind long ones. Both clone only tasks that take
// three times the median, which seldom does harm and needs no reports of progress.
const (
	Default          = "spark"
	DefaultAmongJobs = Default + ":order=srpt"
)
