package simulation

import (
	"cmp"
	"strconv"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// Origin is what a request does not know of itself: where it was made.
type Origin struct {
	Version   string   // of the program
	Arguments []string // of 'tailcut simulate' that ask for the same result
	Files     []File   // that the arguments name, but for the workload
}

// File is a file that a result depends on.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// ManifestSchema is what a manifest says of itself.
const ManifestSchema = "tailcut.simulate.manifest/v1"

// Manifest says what a result is the result of.
type Manifest struct {
	Schema    string   `json:"schema"`
	Version   string   `json:"version"`
	Arguments []string `json:"arguments"`
	Files     []File   `json:"files"`

	Workload  WorkloadIdentity `json:"workload"`
	Seed      uint64           `json:"seed"`
	Runs      int              `json:"runs"`
	Until     float64          `json:"until"`     // share at which repetitions were to end; 0 for a number of them
	Replicate string           `json:"replicate"` // what differs between repetitions
	Policies  []PolicyIdentity `json:"policies"`

	Machines        int     `json:"machines"`
	SlotsPerMachine string  `json:"slots_per_machine"` // empty for a cluster of several sites
	Slots           int     `json:"slots"`
	Speed           float64 `json:"speed_factor"`
	Failures        string  `json:"failures"`
	MaxAttempts     int     `json:"max_attempts"` // of a task at once; 0 for no bound
	MoreAttempts    bool    `json:"policies_may_have_more_attempts"`
	CloneFloor      int     `json:"clones_at_least"` // 0 for no bound
	CloneOfTasks    float64 `json:"clones_of_unfinished_tasks"`
	CloneOfRunning  float64 `json:"clones_of_running_tasks"`

	Service       string  `json:"service"`
	LaunchDelay   string  `json:"launch_delay"`
	Overheads     string  `json:"overheads"`
	Progress      string  `json:"progress"`
	ProgressNoise float64 `json:"progress_noise"`
	ProgressError string  `json:"progress_error"`
	DeadlineSlack float64 `json:"deadline_slack"`
	Cut           string  `json:"cut"`
	By            string  `json:"by"`
	PlaceData     string  `json:"place_data,omitempty"` // span before jobs; the workload's hash is that before moves

	Money string `json:"money,omitempty"` // the unit of the cluster's prices; the cluster's file is one of Files
}

// WorkloadIdentity says which workload it was, after filters, and before deadlines of --deadline-slack.
type WorkloadIdentity struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // see trace.Workload.Hash
	Jobs   int    `json:"jobs"`
	Tasks  int    `json:"tasks"`
}

// PolicyIdentity says which policy it was, and what it knew.
type PolicyIdentity struct {
	Name      string `json:"name"`       // as it was asked for
	Full      string `json:"parameters"` // with the values of all parameters
	Progress  string `json:"progress"`
	Durations string `json:"durations"`
}

// manifest describes a question. The hash is that of the workload before it was fitted to the request.
func (q *question) manifest(hash string, runs, machines, slots int) *Manifest {
	o := &q.options
	m := &Manifest{
		Schema: ManifestSchema, Version: q.Origin.Version, Arguments: q.Origin.Arguments, Files: q.Origin.Files,
		Workload: WorkloadIdentity{Name: q.Workload.Name, SHA256: hash, Jobs: len(q.Workload.Jobs), Tasks: q.Workload.Tasks()},
		Seed:     q.Seed, Runs: runs, Until: q.Until, Replicate: cmp.Or(q.Replicate, Luck),
		Machines: machines, SlotsPerMachine: cmp.Or(q.Slots, "1"), Slots: slots, Speed: o.Speed, Failures: cmp.Or(q.Failures, "none"),
		MaxAttempts: bounded(o.Limits.Attempts), MoreAttempts: o.Limits.OwnAttempts, CloneFloor: bounded(o.Limits.Clones.Floor),
		CloneOfTasks: o.Limits.Clones.TaskShare, CloneOfRunning: o.Limits.Clones.RunningShare,
		Service: cmp.Or(q.Service, "resample"), LaunchDelay: cmp.Or(q.LaunchDelay, "0s"), Overheads: cmp.Or(q.Overheads, "none"), Progress: cmp.Or(q.Progress, Auto),
		ProgressNoise: q.Noise, ProgressError: cmp.Or(q.NoiseKind, Independent), DeadlineSlack: q.DeadlineSlack, Cut: cmp.Or(q.Request.Cut, "none"), By: q.By, PlaceData: q.PlaceData,
	}
	if q.Cluster != nil {
		m.Money = moneyOf(q.Cluster)
		m.SlotsPerMachine, m.Service = "", cmp.Or(q.Service, "recorded")
	}
	for k := range q.policies {
		m.Policies = append(m.Policies, PolicyIdentity{q.policies[k].Name, q.full[k], q.told[k], q.law[k]})
	}
	return m
}

// bounded is a bound, 0 for none.
func bounded(n int) int {
	if n == sched.Unlimited {
		return 0
	}
	return n
}

// Identity is what each row of a CSV file says of the manifest: enough to tell results of different settings apart.
type Identity struct {
	Version    string `json:"version"`
	Seed       string `json:"seed"`
	Workload   string `json:"workload"`
	Hash       string `json:"workload_sha256"`
	Replicate  string `json:"replicate"`
	Service    string `json:"service"`
	Failures   string `json:"failures"`
	Slots      int    `json:"slots"`
	Limits     string `json:"limits"`
	Parameters string `json:"parameters"` // the policy with the values of all
}

func (m *Manifest) identity(policy int) Identity {
	limits := "attempts=" + limitOf(m.MaxAttempts) + " clones=" + limitOf(m.CloneFloor)
	return Identity{
		m.Version, strconv.FormatUint(m.Seed, 10), m.Workload.Name, m.Workload.SHA256, m.Replicate, m.Service, m.Failures, m.Slots, limits, m.Policies[policy].Full,
	}
}

func limitOf(n int) string {
	if n == 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

// fullOf returns the specification of a policy as the experiment has it, with all parameters.
func fullOf(specs string) string {
	full, err := policy.Full(specs)
	if err != nil {
		return specs
	}
	return full
}
