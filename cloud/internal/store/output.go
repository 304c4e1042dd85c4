package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
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
func (o *Output) result() place  { return o.place.below(mapreduce.ManifestName) }
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

func (o *Output) sums(run string, stage, index, number int) place {
	return o.of(run).below(fmt.Sprintf("sums/%d-%05d.%d", stage, index, number))
}

func (o *Output) draft(run string) place { return o.of(run).below("manifest") }

// Claim says in the store whose an output is: of the run whose journal has that name, wherever that is. The first to
// write it has it.
type Claim struct {
	Schema  string    `json:"schema"`
	Run     string    `json:"run"`
	Host    string    `json:"host"` // where the journal is
	Started time.Time `json:"started"`
	Folders []string  `json:"folders,omitempty"` // of the parts, if not the output itself
	Lists   bool      `json:"lists,omitempty"`   // what it publishes is in a manifest before; older versions wrote none
}

const claimSchema = "tailcut.claim/v1"

// Standing is how an output stands to a run.
type Standing struct {
	Claimed  bool // it is the run's
	Finished bool // and holds its whole result
	Tidied   bool // and nothing that only the run needed
}

// Check finds out whether a run may use the output: one whose claim is there already, or any if nothing is there. Run
// is "" for a new one. With force what an earlier run left is removed first, and nothing else. Its errors are the
// user's.
func (o *Output) Check(ctx context.Context, run string, force bool) (Standing, error) {
	claim, err := o.readClaim(ctx)
	if err != nil {
		return Standing{}, err
	}
	if force {
		if removed, err := o.clear(ctx, claim); removed || err != nil {
			return Standing{}, err
		}
	}
	_, unfinished, err := o.buckets.read(ctx, o.success())
	if err != nil {
		return Standing{}, err
	}
	if claim != nil && claim.Run == run {
		s := Standing{Claimed: true, Finished: !unfinished}
		if s.Finished {
			left, err := o.buckets.list(ctx, o.of(run))
			s.Tidied = len(left) == 0
			return s, err
		}
		return s, nil
	}
	return Standing{}, o.foreign(ctx, claim, !unfinished)
}

// foreign says why a run may not use an output that is not its own; nil if nothing is there.
func (o *Output) foreign(ctx context.Context, claim *Claim, finished bool) error {
	name := o.place.tell()
	found, err := o.buckets.list(ctx, o.place)
	switch {
	case err != nil:
		return err
	case finished && claim != nil:
		return fmt.Errorf("%s: holds the finished result of a run that was begun on %s at %s and has its journal there; name another --output, or replace it with --force",
			name, claim.Host, claim.Started.Format(time.DateTime))
	case claim != nil:
		return fmt.Errorf("%s: holds a run that was begun on %s at %s and has its journal there; repeat the command there, or use --force, or another --output",
			name, claim.Host, claim.Started.Format(time.DateTime))
	case finished && slices.ContainsFunc(found, func(b *blob.ListObject) bool { return b.Key == o.result().key }):
		return fmt.Errorf("%s: holds a finished result; name another --output, or replace it with --force", name)
	case finished:
		return fmt.Errorf("%s: holds a finished result, and nothing says what belongs to it; remove it yourself, or name another --output", name)
	case len(found) > 0:
		return fmt.Errorf("%s: is not empty and was not created by Tailcut; name another --output", name)
	}
	return nil
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

// clear removes what a run left: _SUCCESS first and the claim last, so that a clearing that is cut short leaves neither
// a result that looks whole nor parts that nobody knows. What has been published, or was to be, manifests say. It tells
// whether anything says that there was a run.
func (o *Output) clear(ctx context.Context, c *Claim) (removed bool, err error) {
	var all []*mapreduce.Manifest
	at := []place{o.result()}
	if c != nil {
		at = append(at, o.draft(c.Run))
	}
	for _, p := range at {
		m, err := o.readManifest(ctx, p)
		if err != nil {
			return false, fmt.Errorf("%w; without it Tailcut does not know which files belong to the result: remove it yourself, or name another --output", err)
		}
		if m != nil {
			all = append(all, m)
		}
	}
	if c == nil && len(all) == 0 {
		return false, nil
	}
	if err := o.buckets.drop(ctx, o.success()); err != nil {
		return true, err
	}
	for _, m := range all {
		if err := sideBySide(ctx, len(m.Parts), func(ctx context.Context, i int) error {
			return o.buckets.drop(ctx, o.place.below(string(m.Parts[i].Path)))
		}); err != nil {
			return true, err
		}
	}
	if len(all) == 0 && !c.Lists {
		if err := o.clearUnlisted(ctx, c); err != nil {
			return true, err
		}
	}
	if c != nil {
		if err := o.Tidy(ctx, c.Run); err != nil {
			return true, err
		}
	}
	if err := o.buckets.drop(ctx, o.result()); err != nil {
		return true, err
	}
	return true, o.buckets.drop(ctx, o.claim())
}

// part matches the keys of results below the folder that they are in.
var part = regexp.MustCompile(`^part-\d{5,}(\.files/.*)?$`)

// clearUnlisted removes the result of a version that wrote no manifest.
func (o *Output) clearUnlisted(ctx context.Context, c *Claim) error {
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
			return o.buckets.drop(ctx, root.at(found[i].Key))
		}); err != nil {
			return err
		}
	}
	return nil
}

// Begin makes the output the run's, and puts there what its attempts are to do. It may be repeated. It is an error if
// the output is another run's.
func (o *Output) Begin(ctx context.Context, run string, w *jobfile.Work) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	c := &Claim{Schema: claimSchema, Run: run, Host: host, Started: time.Now().UTC().Truncate(time.Second), Folders: folders(w), Lists: true}
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
func folders(w *jobfile.Work) []string {
	if w.Array == nil || len(w.Array.Stages) == 1 {
		return nil
	}
	var names []string
	for i := range w.Array.Stages {
		names = append(names, w.Array.Stages[i].Name)
	}
	return names
}

// Tidy removes what a run that has succeeded needs no more: first what its attempts are to do, by whose absence those
// that still end know that it is over.
func (o *Output) Tidy(ctx context.Context, run string) error {
	if err := o.buckets.drop(ctx, o.work(run)); err != nil {
		return err
	}
	return o.buckets.remove(ctx, o.of(run))
}
