package sched

// Cluster is a View for questions about the cluster as a whole: what runs in it, and what holds for all of it. Like
// View.Slots and View.Pending it counts what the reader sees, see [PerClass].
type Cluster View

// Cluster groups the view's questions about the cluster as a whole.
func (v *View) Cluster() *Cluster { return (*Cluster)(v) }

// Live returns the number of attempts running, RunningTasks that of tasks that have one.
func (c *Cluster) Live() int         { return (*View)(c).sum(&c.used) }
func (c *Cluster) RunningTasks() int { return (*View)(c).sum(&c.runningTasks) }

// Clones returns the number of attempts running beyond the first of each task.
func (c *Cluster) Clones() int { return c.Live() - c.RunningTasks() }

// Unfinished returns the number of tasks of active jobs that are neither done nor skipped, of all classes.
func (c *Cluster) Unfinished() int { return c.unfinished }

// Limits returns the limits that the core enforces.
func (c *Cluster) Limits() Limits { return c.limits }

// Pace returns the factor of their ordinary speed at which all machines run: 1 until the policy orders otherwise.
func (c *Cluster) Pace() float64 { return c.pace }

// WaitToBegin tells whether launched attempts wait until they begin, see Core.WaitToBegin.
func (c *Cluster) WaitToBegin() bool { return c.waits }
