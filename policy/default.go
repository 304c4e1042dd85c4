package policy

// Default is the policy of a run, a server and a simulation where nobody names one.
const Default = "auto"
