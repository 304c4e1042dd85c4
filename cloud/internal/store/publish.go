package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"gocloud.dev/gcerrors"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// What an attempt puts into the store it hashes on the way, and notes in an object beside, its sums. So the manifest of
// the result says what attempts have made, and publishing reads none of it.

// sums is what an attempt has put into the store.
type sums struct {
	Schema string `json:"schema"`
	Files  []sum  `json:"files"`
}

type sum struct {
	Name   string `json:"name"` // below the attempt's prefix
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

const sumsSchema = "tailcut.sums/v1"

// hasher hashes what is written to it, and counts it.
type hasher struct {
	hash.Hash
	size int64
	seen func(bytes int64) // may be nil
}

func newHasher(seen func(int64)) *hasher { return &hasher{Hash: sha256.New(), seen: seen} }

func (h *hasher) Write(p []byte) (int, error) {
	h.size += int64(len(p))
	if h.seen != nil {
		h.seen(int64(len(p)))
	}
	return h.Hash.Write(p)
}

func (h *hasher) text() string { return hex.EncodeToString(h.Sum(nil)) }

// hash reads an object to its end; missing is true if there is none. What it has read it tells.
func (b *Buckets) hash(ctx context.Context, p place, seen func(int64)) (size int64, text string, missing bool, err error) {
	bucket, err := b.of(ctx, p)
	if err != nil {
		return 0, "", false, err
	}
	r, err := bucket.NewReader(ctx, p.key, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return 0, "", true, nil
	}
	if err != nil {
		return 0, "", false, explain(p, err)
	}
	defer r.Close()
	h := newHasher(seen)
	if _, err := io.Copy(h, r); err != nil {
		return 0, "", false, explain(p, err)
	}
	return h.size, h.text(), false, nil
}

// isPublished tells whether the results of a stage are published: those of the last stage, or of all of an array.
func isPublished(w *jobfile.Work, stage int) bool {
	return w.Array != nil || stage == len(w.MapReduce.Stages)-1
}

// success is what _SUCCESS says.
type success struct {
	Schema string     `json:"schema"`
	Run    string     `json:"run"`
	Parts  []partInfo `json:"parts"`
}

type partInfo struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// piece is an object of a result: where the winner has put it, and what it will be.
type piece struct {
	from  place
	entry mapreduce.Entry
}

// Publish copies the winners' objects of the last stage, or of all stages of an array job, to where users look for
// them, and then writes the manifest and _SUCCESS. What is to be copied is written down first, so that --force knows
// what belongs to a result that was cut short. It may be repeated.
func (r *Results) Publish() error {
	if err := r.publish(context.Background()); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}

func (r *Results) publish(ctx context.Context) error {
	pieces, err := r.pieces(ctx)
	if err != nil {
		return err
	}
	m := &mapreduce.Manifest{Schema: mapreduce.ManifestSchema, Run: r.run}
	done := success{Schema: "tailcut.success/v1", Run: r.run}
	for i := range pieces {
		e := &pieces[i].entry
		m.Parts = append(m.Parts, *e)
		done.Parts = append(done.Parts, partInfo{string(e.Path), e.Size})
	}
	manifest, err := m.Encode()
	if err != nil {
		return err
	}
	if err := r.out.buckets.write(ctx, r.out.draft(r.run), bytes.NewReader(manifest), false); err != nil {
		return err
	}
	if err := sideBySide(ctx, len(pieces), func(ctx context.Context, i int) error {
		return r.out.buckets.copy(ctx, pieces[i].from, r.out.place.below(string(pieces[i].entry.Path)))
	}); err != nil {
		return err
	}
	if err := r.out.buckets.write(ctx, r.out.result(), bytes.NewReader(manifest), false); err != nil {
		return err
	}
	data, err := json.MarshalIndent(done, "", " ")
	if err != nil {
		return err
	}
	return r.out.buckets.write(ctx, r.out.success(), bytes.NewReader(append(data, '\n')), false)
}

// pieces lists what is to be published.
func (r *Results) pieces(ctx context.Context) ([]piece, error) {
	var all []piece
	for s := range r.stages {
		if !isPublished(r.work, s) {
			continue
		}
		found := make([][]piece, len(r.stages[s].winners))
		if err := sideBySide(ctx, len(found), func(ctx context.Context, i int) (err error) {
			found[i], err = r.describe(ctx, s, i)
			return err
		}); err != nil {
			return nil, err
		}
		all = append(all, slices.Concat(found...)...)
	}
	return all, nil
}

// describe lists the objects of a task's winner. Files of array tasks go below the part's name with ".files".
func (r *Results) describe(ctx context.Context, stage, index int) ([]piece, error) {
	number := r.winner(stage, index)
	from := r.out.attempt(r.run, stage, index, number)
	found, err := r.out.buckets.list(ctx, from)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: the result is gone", from.tell())
	}
	known, err := r.out.readSums(ctx, r.run, stage, index, number)
	if err != nil {
		return nil, err
	}
	base := mapreduce.Entry{Path: mapreduce.Path(mapreduce.PartName(index)), Task: index, Attempt: number}
	if w := r.work.Array; w != nil {
		base.Stage = w.Stages[stage].Name
	} else {
		base.Stage = r.work.MapReduce.Stages[stage].Name
	}
	if len(folders(r.work)) > 0 {
		base.Path = mapreduce.Path(base.Stage) + "/" + base.Path
	}
	var all []piece
	for _, o := range found {
		p := piece{from.at(o.Key), base}
		name := strings.TrimPrefix(o.Key, from.key+"/")
		if name != partObject && name != stdoutObject {
			p.entry.Path += mapreduce.Path("." + name)
		}
		if known == nil { // of a version that noted none
			p.entry.Size, p.entry.SHA256, _, err = r.out.buckets.hash(ctx, p.from, nil)
			if err != nil {
				return nil, err
			}
		} else {
			i := slices.IndexFunc(known.Files, func(f sum) bool { return f.Name == name && f.Size == o.Size })
			if i < 0 {
				return nil, fmt.Errorf("%s: %d bytes, and its attempt put something else there", p.from.tell(), o.Size)
			}
			p.entry.Size, p.entry.SHA256 = o.Size, known.Files[i].SHA256
		}
		all = append(all, p)
	}
	if known != nil && len(known.Files) != len(all) {
		return nil, fmt.Errorf("%s: %d objects, and its attempt put %d there", from.tell(), len(all), len(known.Files))
	}
	slices.SortFunc(all, func(x, y piece) int { return strings.Compare(string(x.entry.Path), string(y.entry.Path)) })
	return all, nil
}

// readSums returns what an attempt says that it has put into the store; nil if it says nothing.
func (o *Output) readSums(ctx context.Context, run string, stage, index, number int) (*sums, error) {
	p := o.sums(run, stage, index, number)
	data, missing, err := o.buckets.read(ctx, p)
	if err != nil || missing {
		return nil, err
	}
	s := &sums{}
	if json.Unmarshal(data, s) != nil || s.Schema != sumsSchema {
		return nil, fmt.Errorf("%s: expected sums of schema %s", p.tell(), sumsSchema)
	}
	return s, nil
}
