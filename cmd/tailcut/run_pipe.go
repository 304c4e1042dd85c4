package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/inputs"
	"github.com/tailcut/tailcut/internal/jobfile"
)

// pipeStage has the tasks of a stage read blocks.
func (f *runFlags) pipeStage(cmd *cobra.Command, st *jobfile.Stage, command []string, groups []inputs.Group) (err error) {
	in := &f.inputs
	flag := "pipe"
	if in.pipePart {
		flag = "pipe-part"
	}
	for _, name := range []string{"null", "delimiter", "colsep", "trim", "link", "shuf", "replace", "plus"} {
		if f.given(name) {
			return fmt.Errorf("--%s is about values, and with --%s tasks read blocks; leave one out", name, flag)
		}
	}
	switch {
	case in.pipe && in.pipePart:
		return errors.New("--pipe reads standard input and --pipe-part a file; give one of them")
	case len(groups) > 0:
		return fmt.Errorf("--%s gives tasks blocks, and %s gives them values; leave one out", flag, groups[0].Separator)
	case len(command) == 0:
		return fmt.Errorf("--%s needs a command that reads the blocks, as in: tailcut run --%s -- wc -l", flag, flag)
	case in.pipePart && len(in.files) != 1:
		return errors.New("--pipe-part needs one file, as in: tailcut run --pipe-part -a FILE -- wc -l")
	case in.pipe && len(in.files) > 0:
		return errors.New("--pipe reads standard input; for a file write --pipe-part, or: < FILE")
	}
	if st.Pipe, err = f.pipeOf(); err != nil {
		return err
	}
	if in.pipePart {
		if st.Pipe.File, err = filepath.Abs(in.files[0]); err != nil {
			return err
		}
	} else if err := f.pipeFrom(cmd.InOrStdin()); err != nil {
		return err
	}
	st.Command, st.Line = jobfile.CommandOf(command)
	st.Tasks = 0 // as many as there are blocks
	return nil
}

// pipeOf says how the blocks are cut.
func (f *runFlags) pipeOf() (p *inputs.Pipe, err error) {
	in := &f.inputs
	p = &inputs.Pipe{Size: int64(in.block)}
	if f.given("max-args") || f.given("max-replace-args") {
		if p.Records, err = f.perTask(); err != nil || p.Records == inputs.None {
			return nil, cmp.Or(err, errors.New("-N: expected at least 1 record per block, not 0"))
		}
	}
	for _, sep := range []struct {
		name, text string
		to         *[]byte
	}{{"recend", in.recend, &p.RecEnd}, {"recstart", in.recstart, &p.RecStart}} {
		if sep.text == "" || sep.name == "recend" && !f.given("recend") && in.recstart != "" {
			continue
		}
		if *sep.to, err = inputs.Delimiter(sep.text); err != nil {
			return nil, wrongFlag(sep.name, err)
		}
	}
	if p.Records > 0 && len(p.RecEnd)+len(p.RecStart) == 0 {
		return nil, errors.New("-N counts records, and without --recend and --recstart there are none")
	}
	switch in.header {
	case "":
	case ":":
		p.Header = 1
	default:
		if p.Header, err = strconv.Atoi(in.header); err != nil || p.Header < 0 {
			return nil, wrongFlag("header", fmt.Errorf("expected a number of lines, or : for one, not %q", in.header))
		}
	}
	return p, nil
}

// pipeFrom keeps standard input for the run, unless there is nothing in it and that is expected.
func (f *runFlags) pipeFrom(stdin io.Reader) error {
	if f.stdin = stdin; !f.inputs.skip {
		return nil
	}
	r := bufio.NewReader(stdin)
	if _, err := r.Peek(1); err == io.EOF {
		return errNoTasks
	}
	f.stdin = r
	return nil
}
