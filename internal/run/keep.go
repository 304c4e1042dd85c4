package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/sched"
)

// keepTime is how long the end of a job may wait for the database, which takes in the files when it is new.
const keepTime = 30 * time.Second

// keepAlone adds a run that has succeeded to the database, if the program is there that keeps one. A repetition changes
// nothing.
func (p *Prepared) keepAlone(ctx context.Context, c *course) error {
	folder := HistoryFolder(p.o.History)
	if folder == "" || p.Job.Name == "" {
		return nil
	}
	h, err := past.Open(folder, p.o.Log)
	if errors.Is(err, past.ErrNoProgram) {
		return nil
	} else if err != nil {
		return err
	}
	err = p.keep(ctx, h, p.pastCourse(c))
	return cmp.Or(err, h.Close())
}

// keepServed adds a job of a server to its history.
func (p *Prepared) keepServed(ctx context.Context, over *live.Over, c *course) error {
	if p.server.History == nil || p.Job.Name == "" || p.o.History == NoHistory {
		return nil
	}
	course := p.pastCourse(c)
	course.Submitted, course.Spec = over.Job.Submitted, &over.Job.Spec
	course.Arrived = sched.Time(course.Submitted.Sub(p.server.Started))
	if p.server.Promises != nil {
		course.Promises = p.server.Promises(over.Job.ID)
	}
	return p.keep(ctx, p.server.History, course)
}

// keep adds a job, even if its user does not want to wait any more, unless that takes long.
func (p *Prepared) keep(ctx context.Context, h past.History, c *past.Course) error {
	ctx, cancel := p.patient(ctx, keepTime)
	defer cancel()
	err := h.Add(ctx, c.Record())
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s has not answered within %v", past.Program, keepTime)
	}
	return unlessInterrupted(err)
}

// pastCourse is how the job went, as the history wants it.
func (p *Prepared) pastCourse(c *course) *past.Course {
	sum := sha256.Sum256(fmt.Append(nil, p.Dir, "\x00", string(p.Header.Command)))
	course := &past.Course{
		Run: p.Header.Run, Name: p.Job.Name, Policy: p.Header.Policy, Spec: &p.Header.Job, Stages: p.Header.Stages, Classes: p.classes(),
		Submitted: p.Header.Started, Output: p.out, Command: hex.EncodeToString(sum[:8]), Input: p.work().InputBytes(), Summary: c.Summary, Records: c.records,
	}
	var classes []ClassSlots
	for _, m := range p.Header.Machines {
		course.Slots += m.Slots
		if int(m.Class) < len(course.Classes) && course.Classes[m.Class] != "" {
			classes = append(classes, ClassSlots{course.Classes[m.Class], m.Slots})
		}
	}
	if len(classes) > 0 {
		course.ClassSlots = slotsText(0, classes)
	}
	return course
}
