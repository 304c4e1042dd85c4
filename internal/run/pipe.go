package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/tailcut/tailcut/internal/inputs"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/trace"
)

// job is what is asked for, with the blocks of its stream once they are known.
func (e *Engine) job() jobfile.Job {
	if e.blocks == nil {
		return e.Job
	}
	return e.Job.WithBlocks(e.blocks)
}

// spool cuts the stream that the job reads into blocks. Standard input is kept in the run's folder, and is on the disk
// when this returns: retries, clones and later starts read it again.
func (e *Engine) spool(ctx context.Context) error {
	p := e.Job.Piped()
	if p == nil {
		return nil
	}
	if p.File != "" {
		return e.cutFile(ctx, p)
	}
	path := e.folders.Stdin()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return Failure{err}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return Failure{err}
	}
	defer f.Close()
	if err := e.cutStream(ctx, p, f); err != nil {
		return err
	}
	if err := e.folders.SyncStdin(f); err != nil {
		return Failure{err}
	}
	return nil
}

// Spool keeps the standard input that the job reads, if it does, in the output folder: a server that is given the job
// finds it there.
func (e *Engine) Spool(ctx context.Context) error {
	if p := e.Job.Piped(); p == nil || p.File != "" {
		return nil
	}
	lock, err := e.take()
	if err != nil {
		return err
	}
	defer lock.Close()
	if isMissing(e.folders.Journal()) {
		return e.spoolAs(ctx, newRunName())
	}
	r, err := trace.OpenJournalReader(e.folders.Journal())
	if err != nil {
		return e.unreadable(err)
	}
	e.folders.Run, e.blocks = r.Header.Folder(), keptBlocks(&r.Header)
	return e.sameStream(&r.Header)
}

// keptBlocks are the blocks of the standard input that a run has kept; nil if it has none.
func keptBlocks(h *trace.JournalHeader) *inputs.Blocks {
	var w jobfile.Work
	if err := json.Unmarshal(h.Work, &w); err != nil || w.Array == nil || len(w.Array.Stages) != 1 {
		return nil
	}
	return w.Array.Stages[0].Blocks
}

// cutOnly finds the blocks and keeps nothing.
func (e *Engine) cutOnly(ctx context.Context) error {
	p := e.Job.Piped()
	switch {
	case p == nil || e.blocks != nil:
		return nil
	case p.File != "":
		return e.cutFile(ctx, p)
	}
	return e.cutStream(ctx, p, io.Discard)
}

// cutFile finds the blocks of a file, which stays where it is.
func (e *Engine) cutFile(ctx context.Context, p *inputs.Pipe) error {
	f, err := os.Open(p.File)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: expected a file that can be read again at any place; for a stream use --pipe", p.File)
	}
	if err := e.blocksOf(ctx, p, f, nil); err != nil {
		return err
	}
	e.blocks.File, e.blocks.Changed = p.File, info.ModTime()
	return nil
}

// cutStream finds the blocks of standard input while it is copied.
func (e *Engine) cutStream(ctx context.Context, p *inputs.Pipe, to io.Writer) error {
	if e.o.Stdin == nil {
		return errors.New("--pipe: there is no standard input")
	}
	sum := sha256.New()
	if err := e.blocksOf(ctx, p, e.o.Stdin, io.MultiWriter(to, sum)); err != nil {
		return err
	}
	e.blocks.Digest = hex.EncodeToString(sum.Sum(nil))
	return nil
}

func (e *Engine) blocksOf(ctx context.Context, p *inputs.Pipe, from io.Reader, also io.Writer) error {
	cutter := inputs.NewCutter(p)
	err := readPieces(ctx, from, func(data []byte) error {
		if _, err := cutter.Write(data); err != nil || also == nil {
			return err
		}
		if _, err := also.Write(data); err != nil {
			return Failure{err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.blocks, err = cutter.Blocks(mapreduce.MaxTasks)
	if errors.Is(err, inputs.ErrNothing) {
		return errors.New("--pipe: the input is empty, so there is no task; with --no-run-if-empty this is no error")
	}
	return err
}

// readPieces reads to the end, and does not wait for more when the context is done.
func readPieces(ctx context.Context, from io.Reader, each func([]byte) error) error {
	type piece struct {
		data []byte
		err  error
	}
	pieces, free := make(chan piece), make(chan []byte, 2)
	for range cap(free) {
		free <- make([]byte, 1<<20)
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			var p piece
			select {
			case <-done:
				return
			case b := <-free:
				n, err := from.Read(b)
				p = piece{b[:n], err}
			}
			select {
			case <-done:
				return
			case pieces <- p:
			}
			if p.err != nil {
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case p := <-pieces:
			if err := each(p.data); err != nil {
				return err
			}
			if p.err == io.EOF {
				return nil
			}
			if p.err != nil {
				return fmt.Errorf("the input: %w", p.err)
			}
			free <- p.data[:cap(p.data)]
		}
	}
}

// sameStream refuses standard input that is not what a run was begun with. Where there is none, the run reads what it
// has kept.
func (e *Engine) sameStream(h *trace.JournalHeader) error {
	p := e.Job.Piped()
	if p == nil || p.File != "" || e.o.Stdin == nil {
		return nil
	}
	if f, ok := e.o.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return nil
	}
	kept := keptBlocks(h)
	if kept == nil {
		return nil
	}
	sum := sha256.New()
	n, err := io.Copy(sum, e.o.Stdin)
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	if n > 0 && hex.EncodeToString(sum.Sum(nil)) != kept.Digest {
		return fmt.Errorf("%s: holds a run that began with another standard input; name another --output, or resume the run with the input that it has kept: < /dev/null", e.out)
	}
	return nil
}
