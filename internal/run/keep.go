package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/tailcut/tailcut/internal/past"
)

// keepTime is how long a run may wait for its history at its end.
const keepTime = 30 * time.Second

// keep adds a job that has ended to the database, if the program is there that keeps one. A repetition changes nothing.
func (p *Prepared) keep(c *course) error {
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
	ctx, cancel := context.WithTimeout(context.Background(), keepTime)
	defer cancel()
	return errors.Join(h.Add(ctx, p.pastCourse(c).Record()), h.Close())
}

// pastCourse is how the job went, as the history wants it.
func (p *Prepared) pastCourse(c *course) *past.Course {
	sum := sha256.Sum256(fmt.Append(nil, p.Dir, "\x00", string(p.Header.Command)))
	course := &past.Course{
		Run: p.Header.Run, Name: p.Job.Name, Policy: p.Header.Policy, Spec: &p.Header.Job, Stages: p.Header.Stages,
		Submitted: p.Header.Started, Output: p.out, Command: hex.EncodeToString(sum[:8]), Summary: c.Summary, Records: c.records,
	}
	for _, m := range p.Header.Machines {
		course.Slots += m.Slots
	}
	return course
}
