package kube

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
	"github.com/tailcut/tailcut/sched"
)

// DataAnnotation says what each task of a Job reads and in which zones that is, for the Jobs of pools that have zones:
//
//	data    = amounts | indexes ":" amounts { ";" indexes ":" amounts }
//	indexes = index [ "-" index ]
//	amounts = zone "=" bytes { "," zone "=" bytes }
//
// Without indexes it is what every task reads. Indexes ascend, and those that are not named read nothing.

// reads is what tasks of some indexes read.
type reads struct {
	from, to int // the first and the last of them
	amounts  []amount
}

// amount is data in a zone.
type amount struct {
	zone  string
	bytes int64
}

// parseData reads a DataAnnotation.
func parseData(text string) ([]reads, error) {
	var all []reads
	parts := strings.Split(text, ";")
	for _, part := range parts {
		x := reads{to: math.MaxInt}
		indexes, amounts, some := strings.Cut(part, ":")
		switch {
		case !some && len(parts) > 1:
			return nil, fmt.Errorf("%q: expected indexes before each of several parts, such as 0-9:eu-a=1Gi;10-19:eu-b=1Gi", part)
		case !some:
			amounts = part
		default:
			var err error
			if x.from, x.to, err = parseRange(indexes); err != nil {
				return nil, err
			}
		}
		if n := len(all); n > 0 && x.from <= all[n-1].to {
			return nil, fmt.Errorf("%q: expected indexes above %d, which the part before it has", part, all[n-1].to)
		}
		for _, text := range strings.Split(amounts, ",") {
			one, err := parseAmount(text)
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(x.amounts, func(y amount) bool { return y.zone == one.zone }) {
				return nil, fmt.Errorf("%q: zone %s is there twice", part, one.zone)
			}
			x.amounts = append(x.amounts, one)
		}
		all = append(all, x)
	}
	return all, nil
}

func parseRange(text string) (from, to int, err error) {
	first, last, two := strings.Cut(text, "-")
	if !two {
		last = first
	}
	a, err := strconv.ParseUint(strings.TrimSpace(first), 10, 31)
	b, err2 := strconv.ParseUint(strings.TrimSpace(last), 10, 31)
	if err != nil || err2 != nil || b < a {
		return 0, 0, fmt.Errorf("%q: expected an index or the first and the last of several, such as 0-9", text)
	}
	return int(a), int(b), nil
}

func parseAmount(text string) (amount, error) {
	zone, bytes, ok := strings.Cut(strings.TrimSpace(text), "=")
	q, err := resource.ParseQuantity(bytes)
	if !ok || zone == "" || err != nil || q.Sign() < 0 || q.CmpInt64(math.MaxInt64) > 0 {
		return amount{}, fmt.Errorf("%q: expected a zone and how many bytes are there, such as eu-a=10Gi", text)
	}
	return amount{zone, q.Value()}, nil
}

// dataOf reads the DataAnnotation of a Job of so many tasks in a pool of zones. An error is unusable if the pool has
// nothing for it.
func dataOf(text string, tasks int, zones []string) error {
	if text == "" {
		return nil
	}
	all, err := parseData(text)
	if err != nil {
		return fmt.Errorf("%s: %w", DataAnnotation, err)
	}
	if last := &all[len(all)-1]; last.to >= tasks && last.to < math.MaxInt {
		return fmt.Errorf("%s: index %d: the Job has %d, from 0", DataAnnotation, last.to, tasks)
	}
	for _, x := range all {
		for _, a := range x.amounts {
			if !slices.Contains(zones, a.zone) {
				return unusable{fmt.Errorf("%s: zone %s is none of the pool's, %s", DataAnnotation, a.zone, strings.Join(zones, ", "))}
			}
		}
	}
	return nil
}

// zonesOf returns where the data of a Job is and where its pods may be, "" for everywhere, in a pool of zones. An error
// is unusable if the pool and the Job do not fit.
func zonesOf(job *batchv1.Job, pool *rules) (data, within string, err error) {
	if pool.zones == "" {
		return "", "", nil
	}
	zones := pool.names()
	data = job.Annotations[DataAnnotation]
	if err := dataOf(data, tasksOf(job), zones); err != nil {
		return "", "", err
	}
	var some []string
	for _, zone := range zones {
		if podtemplate.MayBeIn(&job.Spec.Template.Spec, zone) {
			some = append(some, zone)
		}
	}
	within = strings.Join(some, ",")
	switch {
	case len(some) == len(zones):
		return data, "", nil
	case len(some) == 0:
		err = fmt.Errorf("the pod template of the Job allows none of the zones of its pool, %s", strings.Join(zones, ", "))
	case !pool.confines:
		err = fmt.Errorf("the pod template of the Job allows only zones %s, and policy %s of its pool does not choose zones; expected one that does, such as geoclone, flutter, iridium, spark-geo or fair:sites=delay", within, pool.policy)
	case pool.limits.MaxWait > 0:
		err = fmt.Errorf("the pod template of the Job allows only zones %s, and maxWait of its pool starts pods in any; expected a pool without maxWait", within)
	}
	if err != nil {
		err = unusable{err}
	}
	return data, within, err
}

// locate tells a core where the data of a Job's tasks is, and where its pods may be. The policy may have come to choose
// no zones since the Job saw it; then the Job waits when it comes.
func (s *settings) locate(spec *sched.JobSpec, tasks []int, r *rules) {
	st, zones := &spec.Stages[0], r.names()
	if s.within != "" && r.confines && r.limits.MaxWait == 0 {
		d := sched.Dataset{Name: "what the pod template allows"}
		for k, zone := range zones {
			if slices.Contains(strings.Split(s.within, ","), zone) {
				d.Sites = append(d.Sites, sched.SiteID(k))
			}
		}
		spec.Datasets, st.Datasets = []sched.Dataset{d}, [][]uint32{{0}}
	}
	if s.data == "" {
		return
	}
	all, _ := parseData(s.data) // dataOf has found it valid
	lists := make([][]sched.Source, len(all))
	for i, x := range all {
		for _, a := range x.amounts {
			lists[i] = append(lists[i], sched.Source{Site: sched.SiteID(slices.Index(zones, a.zone)), Bytes: a.bytes})
		}
	}
	if all[0].to == math.MaxInt {
		st.Inputs = lists
		return
	}
	st.Inputs = make([][]sched.Source, len(tasks))
	i := 0
	for k, index := range tasks { // which ascend, as all does
		for i < len(all) && all[i].to < index {
			i++
		}
		if i < len(all) && all[i].from <= index {
			st.Inputs[k] = lists[i]
		}
	}
}
