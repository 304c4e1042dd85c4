package store

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"gocloud.dev/blob"

	"github.com/tailcut/tailcut/internal/mapreduce"
)

// Files are the objects of stores and the files of this machine, as the input of map/reduce jobs: what has "://" in its
// path is a URL.
type Files struct{ Buckets *Buckets }

var _ mapreduce.Files = Files{}

// IsURL tells whether a path means an object, or all below a prefix, of a store.
func IsURL(path string) bool { return strings.Contains(path, "://") }

// List returns the objects that a URL names: the one whose key it is, and those below it. What a run leaves beside its
// parts is passed over.
func (f Files) List(ctx context.Context, name string) ([]mapreduce.File, error) {
	if !IsURL(name) {
		return mapreduce.LocalFiles{}.List(ctx, name)
	}
	p, err := parsePlace(name)
	if err != nil {
		return nil, err
	}
	objects, err := f.Buckets.list(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("%s: there is no such object, and none below it", p.tell())
	}
	var files []mapreduce.File
	for _, o := range objects {
		if rest := strings.TrimPrefix(o.Key, p.key); path.Base(rest) != mapreduce.SuccessName && path.Base(rest) != mapreduce.ManifestName && !strings.Contains(rest+"/", "/"+privateName+"/") {
			files = append(files, mapreduce.File{Path: mapreduce.Path(p.at(o.Key).String()), Size: o.Size, ModTime: seconds(o.ModTime)})
		}
	}
	return files, nil
}

// seconds returns a time as far as all answers of a store agree on it.
func seconds(t time.Time) int64 { return t.Truncate(time.Second).UnixNano() }

// Open opens an object, or a file of this machine.
func (f Files) Open(ctx context.Context, listed mapreduce.File) (mapreduce.Input, error) {
	if !IsURL(string(listed.Path)) {
		return mapreduce.LocalFiles{}.Open(ctx, listed)
	}
	p, err := parsePlace(string(listed.Path))
	if err != nil {
		return nil, err
	}
	bucket, err := f.Buckets.of(ctx, p)
	if err != nil {
		return nil, err
	}
	return &object{ctx: ctx, bucket: bucket, place: p, listed: listed, window: firstWindow}, nil
}

// What one request asks for, in bytes: little at first, for some readers want no more, then more and more.
const (
	firstWindow = 256 << 10
	lastWindow  = 16 << 20
)

// object reads an object as a stream, for as long as reads follow one another. Every answer of a store is of one
// version of the object, and it is compared with what was listed.
type object struct {
	ctx    context.Context
	bucket *blob.Bucket
	place  place
	listed mapreduce.File

	stream *blob.Reader // nil: none
	next   int64        // where the stream is
	end    int64        // of the stream
	window int64        // of the next request
}

// ReadAt implements io.ReaderAt.
func (o *object) ReadAt(buf []byte, offset int64) (read int, err error) {
	if offset != o.next {
		o.close()
		o.next, o.window = offset, firstWindow
	}
	for read < len(buf) {
		if o.next >= o.listed.Size {
			return read, io.EOF
		}
		if o.stream == nil {
			if err := o.request(int64(len(buf) - read)); err != nil {
				return read, err
			}
		}
		n, err := o.stream.Read(buf[read:])
		read += n
		o.next += int64(n)
		if err == io.EOF {
			o.close()
			if o.next < o.end {
				err = io.ErrUnexpectedEOF
			} else {
				err = nil
			}
		}
		if err != nil {
			return read, explain(o.place, err)
		}
	}
	return read, nil
}

// request asks for the bytes from where the stream was, at least so many.
func (o *object) request(least int64) error {
	length := min(max(o.window, least), o.listed.Size-o.next)
	o.window = min(2*o.window, lastWindow)
	r, err := o.bucket.NewRangeReader(o.ctx, o.place.key, o.next, length, nil)
	if err != nil {
		return explain(o.place, err)
	}
	if err := o.listed.Same(r.Size(), seconds(r.ModTime())); err != nil {
		r.Close()
		return err
	}
	o.stream, o.end = r, o.next+length
	return nil
}

// Unchanged has nothing left to find: each answer was compared.
func (o *object) Unchanged() error { return nil }

// Close ends the stream.
func (o *object) Close() error {
	o.close()
	return nil
}

func (o *object) close() {
	if o.stream != nil {
		o.stream.Close() // of a reader: nothing can be lost
		o.stream = nil
	}
}
