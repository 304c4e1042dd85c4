package tailcut

import (
	"context"
	"io"
	"time"

	"github.com/tailcut/tailcut/internal/advice"
	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/sched"
)

// Question asks when to clone the tasks of a job whose durations are known.
type Question struct {
	Durations []time.Duration // of attempts that ended
	CutOff    []time.Duration // of attempts that were killed, or are still running: they would have taken longer
	Law       laws.Law        // of seconds, instead of both

	Tasks      int     // of the job, 1 to 100,000; as many as there are durations if 0
	MaxClones  int     // most clones of a task to consider, 1 to 64; 4 if 0
	Quantile   float64 // judge by the time when the job is done with this probability; by its mean if 0
	Now        string  // what is done now, as a rule such as spark or timeout:after=30s; no clones if empty
	Confidence bool    // say how sure the recommendation is, by resampling the durations
}

// Plan is when to clone: the rule in numbers, and how to say it to Tailcut.
type Plan struct {
	Policy     string        // as --policy and Options.Policy take it
	Stragglers int           // clone when so many tasks are left
	Clones     int           // of each of them; 0: do not clone
	Kill       bool          // the original too is started anew
	Latency    time.Duration // until the job is done, on average; in Best and Without with the probability Quantile
	Machine    time.Duration // machine time per task, on average
}

// Recommendation is the answer to a question.
type Recommendation struct {
	Best    Plan // the least latency for no more machine time than what is done now needs; perhaps without clones
	Without Plan // no clones
	// Frontier holds the plans of which no other is better both in mean latency and in machine time, the slowest first.
	Frontier   []Plan
	Settings   []string    // how Spark, Flink and Hadoop are told the like, a line or two each
	Confidence *Confidence // nil unless it was asked for, and where no clones are recommended

	advice *advice.Advice
}

// Confidence says how far the recommendation can be trusted, by resamples of the durations. What is saved is a share of
// what is done now; Low and High hold it on a share of the resamples that is Level.
type Confidence struct {
	Level                   float64
	LatencyLow, LatencyHigh float64
	MachineLow, MachineHigh float64
	Faster                  float64 // share of the resamples on which it is
}

// Recommend finds the best moment and number of clones, on all cores, with exact formulas: within a second for jobs of
// some hundred tasks. The error is of one line and says what of the question cannot be; or it is that of ctx.
func Recommend(ctx context.Context, q Question) (*Recommendation, error) {
	r := advice.Defaults()
	r.Law, r.Tasks, r.Quantile, r.Now, r.Confidence = q.Law, q.Tasks, q.Quantile, q.Now, q.Confidence
	if q.MaxClones != 0 {
		r.MaxClones = q.MaxClones
	}
	if q.Law == nil {
		sample, err := durations.New(seconds(q.Durations), seconds(q.CutOff))
		if err != nil {
			return nil, err
		}
		r.Sample = sample
	}
	a, err := advice.Recommend(ctx, r)
	if err != nil {
		return nil, err
	}
	res := a.Result()
	rec := &Recommendation{Best: planOf(&res.Recommended), Settings: a.Settings(), advice: a}
	rec.Without = Plan{Latency: latency(res.Baseline), Machine: span(float64(res.Baseline.Cost))}
	if c := res.Confidence; c != nil {
		rec.Confidence = &Confidence{
			Level: c.Level, LatencyLow: c.Latency[0], LatencyHigh: c.Latency[1], MachineLow: c.Cost[0], MachineHigh: c.Cost[1], Faster: c.Faster,
		}
	}
	for i := range res.Frontier {
		rec.Frontier = append(rec.Frontier, planOf(&res.Frontier[i]))
	}
	return rec, nil
}

// WriteText writes the recommendation as 'tailcut plan fork' does.
func (r *Recommendation) WriteText(w io.Writer) error { return r.advice.WriteText(w) }

// WriteJSON writes the recommendation for programs.
func (r *Recommendation) WriteJSON(w io.Writer) error { return r.advice.WriteJSON(w) }

func planOf(c *advice.Choice) Plan {
	return Plan{
		Policy: c.Policy, Stragglers: c.Stragglers, Clones: c.Clones, Kill: c.Original == plan.Kill.String(),
		Latency: latency(c.Outcome), Machine: span(float64(c.Cost)),
	}
}

// latency is the quantile where one was asked for, and otherwise the mean.
func latency(o advice.Outcome) time.Duration {
	if o.Quantile != nil {
		return span(float64(*o.Quantile))
	}
	return span(float64(o.Latency))
}

func seconds(all []time.Duration) []float64 {
	s := make([]float64, len(all))
	for i, d := range all {
		s[i] = d.Seconds()
	}
	return s
}

// span is a number of seconds as a duration; the longest there is for what is longer.
func span(seconds float64) time.Duration { return time.Duration(sched.FromSeconds(seconds)) }
