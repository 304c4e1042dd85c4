package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	_ "gocloud.dev/blob/s3blob"   // s3://
	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"
)

// parallel is how many requests of one kind are on their way at once.
const parallel = 16

// place is an object of a store, or all below a prefix, as a URL names them: s3://BUCKET/KEY?PARAMETERS,
// gs://BUCKET/KEY?PARAMETERS or file:///PATH. The parameters are those of gocloud.dev, such as region and endpoint.
type place struct {
	url url.URL
	key string // without a slash at its ends; "" is the whole bucket
}

// parsePlace reads a URL. Its errors are the user's.
func parsePlace(text string) (place, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return place{}, fmt.Errorf("%q: expected a URL such as s3://bucket/prefix", text)
	case u.Scheme == "file" && (u.Host != "" || !path.IsAbs(u.Path)):
		return place{}, fmt.Errorf("%s: expected a whole path, as in file:///shared/data", text)
	case u.Scheme == "file" && u.RawQuery != "":
		return place{}, fmt.Errorf("%s: file:// takes no parameters", text)
	case u.Scheme != "file" && u.Scheme != "s3" && u.Scheme != "gs":
		return place{}, fmt.Errorf("%s: expected s3://, gs:// or file://", text)
	case u.Scheme != "file" && u.Host == "":
		return place{}, fmt.Errorf("%s: expected a bucket, as in %s://bucket/prefix", text, u.Scheme)
	}
	return place{url: *u, key: strings.Trim(path.Clean("/"+u.Path), "/")}, nil
}

// bucket returns the URL of the bucket, as gocloud.dev takes it. A folder's is the root: then the keys are paths.
func (p place) bucket() string {
	if p.url.Scheme == "file" {
		return "file:///?metadata=skip&no_tmp_dir=true"
	}
	u := p.url
	u.Path, u.RawPath = "", ""
	return u.String()
}

// at returns the place of another key of the bucket.
func (p place) at(key string) place {
	p.url.Path, p.url.RawPath = "/"+key, ""
	p.key = key
	return p
}

// below returns the place of a name under this one.
func (p place) below(name string) place { return p.at(strings.TrimPrefix(p.key+"/"+name, "/")) }

// String returns the URL.
func (p place) String() string { return p.url.String() }

// tell returns the URL without its parameters, for messages.
func (p place) tell() string {
	p.url.RawQuery = ""
	return p.url.String()
}

// Buckets are the buckets that are open. The zero value is ready to use.
type Buckets struct {
	mu   sync.Mutex
	open map[string]*blob.Bucket
}

// Close closes all of them.
func (b *Buckets) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, bucket := range b.open {
		errs = append(errs, bucket.Close())
	}
	b.open = nil
	return errors.Join(errs...)
}

func (b *Buckets) of(ctx context.Context, p place) (*blob.Bucket, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := p.bucket()
	if bucket, ok := b.open[name]; ok {
		return bucket, nil
	}
	bucket, err := p.openBucket(ctx)
	if err != nil {
		return nil, err
	}
	if b.open == nil {
		b.open = map[string]*blob.Bucket{}
	}
	b.open[name] = bucket
	return bucket, nil
}

func (p place) openBucket(ctx context.Context) (*blob.Bucket, error) {
	if p.url.Scheme == "gs" {
		return openGoogle(ctx, &p.url)
	}
	return blob.OpenBucket(ctx, p.bucket())
}

// read returns an object; missing is true if there is none.
func (b *Buckets) read(ctx context.Context, p place) (data []byte, missing bool, err error) {
	bucket, err := b.of(ctx, p)
	if err != nil {
		return nil, false, err
	}
	data, err = bucket.ReadAll(ctx, p.key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, true, nil
	}
	return data, false, explain(p, err)
}

// write makes an object, whole or not at all, and durable. With fresh set it is an error of code FailedPrecondition if
// there is one already.
func (b *Buckets) write(ctx context.Context, p place, data io.Reader, fresh bool) error {
	bucket, err := b.of(ctx, p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // before Close: the object is not made
	w, err := bucket.NewWriter(ctx, p.key, &blob.WriterOptions{ContentType: "application/octet-stream", IfNotExist: fresh})
	if err != nil {
		return explain(p, err)
	}
	if _, err := io.Copy(w, data); err != nil {
		cancel()
		_ = w.Close() // whose error is that it was cancelled
		return explain(p, err)
	}
	if err := w.Close(); err != nil {
		return explain(p, err)
	}
	return p.sync()
}

// copy makes an object a copy of another of the same bucket, inside the store.
func (b *Buckets) copy(ctx context.Context, from, to place) error {
	bucket, err := b.of(ctx, from)
	if err != nil {
		return err
	}
	if err := bucket.Copy(ctx, to.key, from.key, nil); err != nil {
		return explain(to, err)
	}
	return to.sync()
}

// sync makes an object durable where the driver does not: in a folder.
func (p place) sync() error {
	if p.url.Scheme != "file" {
		return nil
	}
	for _, name := range []string{"/" + p.key, filepath.Dir("/" + p.key)} {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		if err := cmp.Or(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// list returns the objects at a place and below it, in the order in which a walk through folders meets them.
func (b *Buckets) list(ctx context.Context, p place) ([]*blob.ListObject, error) {
	bucket, err := b.of(ctx, p)
	if err != nil {
		return nil, err
	}
	var found []*blob.ListObject
	all := bucket.List(&blob.ListOptions{Prefix: p.key})
	for {
		o, err := all.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, explain(p, err)
		}
		// What ends with a slash is how some tools mark a folder.
		if rest := strings.TrimPrefix(o.Key, p.key); !strings.HasSuffix(o.Key, "/") && (p.key == "" || rest == "" || rest[0] == '/') {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(x, y *blob.ListObject) int { return cmp.Compare(walkOrder(x.Key), walkOrder(y.Key)) })
	return found, nil
}

// walkOrder lets keys sort as a walk through folders meets them, which goes by whole names.
func walkOrder(key string) string { return strings.ReplaceAll(key, "/", "\x00") }

// remove removes all objects below a place, and one at the place.
func (b *Buckets) remove(ctx context.Context, p place) error {
	if p.url.Scheme == "file" {
		return os.RemoveAll("/" + p.key)
	}
	bucket, err := b.of(ctx, p)
	if err != nil {
		return err
	}
	found, err := b.list(ctx, p)
	if err != nil {
		return err
	}
	return sideBySide(ctx, len(found), func(ctx context.Context, i int) error {
		if err := bucket.Delete(ctx, found[i].Key); gcerrors.Code(err) != gcerrors.NotFound {
			return explain(p, err)
		}
		return nil
	})
}

// drop removes an object; there need not be one.
func (b *Buckets) drop(ctx context.Context, p place) error {
	bucket, err := b.of(ctx, p)
	if err != nil {
		return err
	}
	if err := bucket.Delete(ctx, p.key); gcerrors.Code(err) != gcerrors.NotFound {
		return explain(p, err)
	}
	return nil
}

// sideBySide calls do for 0 to n-1, some at a time, until one fails.
func sideBySide(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// explain says which object an error is about, in one line.
func explain(p place, err error) error {
	if err == nil {
		return nil
	}
	return &objectError{p.tell(), err}
}

type objectError struct {
	name string
	error
}

func (e *objectError) Error() string {
	return e.name + ": " + strings.Join(strings.Fields(e.error.Error()), " ")
}
func (e *objectError) Unwrap() error { return e.error }
