package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tailcut/tailcut/internal/mapreduce"
)

// ErrNoResult is wrapped by the error of Verify if no run has finished there.
var ErrNoResult = errors.New("expected the output of a successful run, but there is no " + mapreduce.ManifestName)

// Verify compares the result with its manifest, byte for byte: it reads all of it, as streams. What it has read, and
// how much there is, it tells meanwhile, from several goroutines; seen may be nil.
func (o *Output) Verify(ctx context.Context, seen func(done, total int64)) (*mapreduce.Manifest, []mapreduce.Mistake, error) {
	m, err := o.readManifest(ctx, o.result())
	if err != nil {
		return nil, nil, err
	}
	_, unfinished, err := o.buckets.read(ctx, o.success())
	switch {
	case err != nil:
		return nil, nil, err
	case m == nil && unfinished:
		return nil, nil, fmt.Errorf("%s: %w", o.place.tell(), ErrNoResult)
	case m == nil:
		return nil, nil, fmt.Errorf("%s: %s with the checksums is missing; the result cannot be verified", o.place.tell(), mapreduce.ManifestName)
	}
	found, err := o.look(ctx, m, seen)
	if err != nil {
		return nil, nil, err
	}
	there, err := o.buckets.list(ctx, o.place)
	if err != nil {
		return nil, nil, err
	}
	strange := m.Strange()
	var extra []string
	for _, object := range there {
		if path := strings.TrimPrefix(object.Key, o.place.key+"/"); strange(path) {
			extra = append(extra, path)
		}
	}
	wrong := m.Compare(found, !unfinished, extra)
	claim, err := o.readClaim(ctx)
	if err == nil && claim != nil && claim.Run != m.Run {
		wrong = append(wrong, mapreduce.Mistake{
			Path: mapreduce.ManifestName, Problem: fmt.Sprintf("mixed: it belongs to run %s, but the output belongs to run %s", m.Run, claim.Run),
		})
	}
	return m, wrong, err
}

// look reads what is in the place of each entry. Folders, which a local run lists, are none in a store.
func (o *Output) look(ctx context.Context, m *mapreduce.Manifest, seen func(done, total int64)) ([]mapreduce.Entry, error) {
	_, total := m.Count()
	var lock sync.Mutex // objects are read beside each other, and seen is told of one at a time
	var done int64
	tell := func(n int64) {
		if seen != nil {
			lock.Lock()
			defer lock.Unlock()
			done += n
			seen(done, total)
		}
	}
	found := slices.Clone(m.Parts)
	err := sideBySide(ctx, len(found), func(ctx context.Context, i int) (err error) {
		e := &found[i]
		if e.Kind == mapreduce.KindFolder {
			return nil
		}
		var missing bool
		e.Kind, e.Link = "", ""
		e.Size, e.SHA256, missing, err = o.buckets.hash(ctx, o.place.below(string(e.Path)), tell)
		if missing {
			e.Kind = mapreduce.KindNothing
		}
		return err
	})
	return found, err
}

// readManifest reads a manifest; nil if there is none.
func (o *Output) readManifest(ctx context.Context, p place) (*mapreduce.Manifest, error) {
	data, missing, err := o.buckets.read(ctx, p)
	if err != nil || missing {
		return nil, err
	}
	return mapreduce.ParseManifest(p.tell(), data)
}
