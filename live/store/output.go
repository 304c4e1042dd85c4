package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"gocloud.dev/gcerrors"

	"github.com/tailcut/tailcut/live/proc"
	"github.com/tailcut/tailcut/mapreduce"
)

// privateName is the prefix in an output of what is not the result.
const privateName = mapreduce.PrivateName

// Output is where the results of a run go, and all that it needs on the way.
type Output struct {
	buckets *Buckets
	place   place
}

// OpenOutput returns the output that a URL names. Its errors are the user's.
func OpenOutput(b *Buckets, name string) (*Output, error) {
	p, err := parsePlace(name)
	if err != nil {
		return nil, err
	}
	if p.key == "" {
		return nil, fmt.Errorf("%s: expected a prefix, as in s3://bucket/prefix: not all of a bucket", p.tell())
	}
	return &Output{b, p}, nil
}

// URL returns the output's name.
func (o *Output) URL() string { return o.place.String() }

func (o *Output) success() place { return o.place.below(mapreduce.SuccessName) }
func (o *Output) claim() place   { return o.place.below(privateName + "/run") }

// of returns the place of all that belongs to a run.
func (o *Output) of(run string) place { return o.place.below(privateName + "/" + run) }

func (o *Output) work(run string) place { return o.of(run).below("work") }

func (o *Output) attempt(run string, stage, index, number int) place {
	return o.of(run).below(fmt.Sprintf("attempts/%d-%05d.%d", stage, index, number))
}

func (o *Output) manifest(run string, stage int) place {
	return o.of(run).below(fmt.Sprintf("done/%d", stage))
}

// Claim says in the store whose an output is: of the run whose journal has that name, wherever that is. The first to
// write it has it.
type Claim struct {
	Schema  string    `json:"schema"`
	Run     string    `json:"run"`
	Host    string    `json:"host"` // where the journal is
	Started time.Time `json:"started"`
	Folders []string  `json:"folders,omitempty"` // of the parts, if not the output itself
}

const claimSchema = "tailcut.claim/v1"

// Check finds out whether a run may use the output: one whose claim is there already, or any if nothing is there. Run
// is "" for a new one. With force what an earlier run left is removed first, and nothing else. Its errors are the
// user's.
func (o *Output) Check(ctx context.Context, run string, force bool) (claimed bool, err error) {
	claim, err := o.readClaim(ctx)
	if err != nil {
		return false, err
	}
	if claim != nil && force {
		return false, o.clear(ctx, claim)
	}
	name := o.place.tell()
	_, missing, err := o.buckets.read(ctx, o.success())
	switch {
	case err != nil:
		return false, err
	case !missing && claim == nil:
		return false, fmt.Errorf("%s: holds a finished result, and nothing says what belongs to it; remove it yourself, or name another --output", name)
	case !missing:
		return false, fmt.Errorf("%s: holds a finished result; use --force to replace it, or another --output", name)
	case claim != nil && run != claim.Run:
		return false, fmt.Errorf("%s: holds a run that was begun on %s at %s and has its journal there; repeat the command there, or use --force, or another --output",
			name, claim.Host, claim.Started.Format(time.DateTime))
	case claim != nil:
		return true, nil
	}
	found, err := o.buckets.list(ctx, o.place)
	if err != nil {
		return false, err
	}
	if len(found) > 0 {
		return false, fmt.Errorf("%s: is not empty and not of an earlier run; name another --output", name)
	}
	return false, nil
}

func (o *Output) readClaim(ctx context.Context) (*Claim, error) {
	data, missing, err := o.buckets.read(ctx, o.claim())
	if err != nil || missing {
		return nil, err
	}
	c := &Claim{}
	if err := json.Unmarshal(data, c); err != nil || c.Schema != claimSchema {
		return nil, fmt.Errorf("%s: expected a claim of schema %s", o.claim().tell(), claimSchema)
	}
	return c, nil
}

// part matches the keys of results below the folder that they are in.
var part = regexp.MustCompile(`^part-\d{5,}(\.files/.*)?$`)

// clear removes what a run left: _SUCCESS first and the claim last, so that a clearing that is cut short leaves neither
// a result that looks whole nor parts that nobody knows.
func (o *Output) clear(ctx context.Context, c *Claim) error {
	if err := o.buckets.remove(ctx, o.success()); err != nil {
		return err
	}
	folders := c.Folders
	if len(folders) == 0 {
		folders = []string{""}
	}
	for _, folder := range folders {
		root := o.place
		if folder != "" {
			root = root.below(folder)
		}
		found, err := o.buckets.list(ctx, root)
		if err != nil {
			return err
		}
		if err := sideBySide(ctx, len(found), func(ctx context.Context, i int) error {
			if !part.MatchString(strings.TrimPrefix(found[i].Key, root.key+"/")) {
				return nil
			}
			return o.buckets.remove(ctx, root.at(found[i].Key))
		}); err != nil {
			return err
		}
	}
	if err := o.buckets.remove(ctx, o.of(c.Run)); err != nil {
		return err
	}
	return o.buckets.remove(ctx, o.claim())
}

// Begin makes the output the run's, and puts there what its attempts are to do. It may be repeated. It is an error if
// the output is another run's.
func (o *Output) Begin(ctx context.Context, run string, w *proc.Work) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	c := &Claim{Schema: claimSchema, Run: run, Host: host, Started: time.Now().UTC().Truncate(time.Second), Folders: folders(w)}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	err = o.buckets.write(ctx, o.claim(), bytes.NewReader(data), true)
	if gcerrors.Code(errors.Unwrap(err)) == gcerrors.FailedPrecondition {
		there, readErr := o.readClaim(ctx)
		switch {
		case readErr != nil:
			return readErr
		case there == nil || there.Run != run:
			return fmt.Errorf("%s: has become another run's; name another --output", o.place.tell())
		}
		err = nil
	}
	if err != nil {
		return err
	}
	if data, err = json.Marshal(w); err != nil {
		return err
	}
	return o.buckets.write(ctx, o.work(run), bytes.NewReader(data), false)
}

// folders returns the names of the folders in the output that the parts are in, none if that is the output itself.
func folders(w *proc.Work) []string {
	if w.Array == nil || len(w.Array.Stages) == 1 {
		return nil
	}
	var names []string
	for i := range w.Array.Stages {
		names = append(names, w.Array.Stages[i].Name)
	}
	return names
}

// Tidy removes what a run that has succeeded needs no more.
func (o *Output) Tidy(ctx context.Context, run string) error { return o.buckets.remove(ctx, o.of(run)) }
