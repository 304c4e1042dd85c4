package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/simulation"
	"github.com/tailcut/tailcut/internal/version"
)

// ofOutput are the flags that say where results go, not what they are: a manifest has none of them, and --manifest
// allows them beside it. Those that shape what is printed are in a manifest, unless they are given beside it.
var (
	ofOutput = []string{"jobs-out", "attempts-out", "manifest-out", "manifest"}
	ofShape  = []string{"format", "intervals", "no-timing"}
)

// repetition is what --manifest asks for.
type repetition struct {
	path string
	of   *simulation.Manifest
}

// read reads the manifest, or the JSON result that holds one, and sets the flags and arguments that it has. What the
// user says of the output goes before, and so does a WORKLOAD, for a file that was moved.
func (r *repetition) read(cmd *cobra.Command, args []string) ([]string, error) {
	if r.path == "" {
		return args, nil
	}
	var given []string
	var extra error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if given = append(given, f.Name); !slices.Contains(ofOutput, f.Name) && !slices.Contains(ofShape, f.Name) && extra == nil {
			extra = fmt.Errorf("--manifest: the manifest says what to simulate; remove --%s", f.Name)
		}
	})
	if extra != nil {
		return nil, extra
	}
	text, err := readFile(r.path)
	if err != nil {
		return nil, wrongFlag("manifest", err)
	}
	var file struct {
		simulation.Manifest
		Within *simulation.Manifest `json:"manifest"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, wrongFlag("manifest", fmt.Errorf("%s: expected what --manifest-out or --format json writes: %s", r.path, unlike(err)))
	}
	if r.of = &file.Manifest; file.Within != nil {
		r.of = file.Within
	}
	if r.of.Schema != simulation.ManifestSchema || len(r.of.Arguments) == 0 {
		return nil, wrongFlag("manifest", fmt.Errorf("%s: expected what --manifest-out or --format json writes", r.path))
	}
	if now := version.String(); r.of.Version != now {
		notice(cmd.ErrOrStderr(), "%s: made by version %s; this is %s, whose result may differ", r.path, r.of.Version, now)
	}
	var flags []string
	for _, arg := range r.of.Arguments {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !strings.HasPrefix(arg, "--") {
			if len(args) == 0 {
				args = []string{arg}
			}
		} else if !slices.Contains(given, name) {
			flags = append(flags, arg)
		}
	}
	if err := cmd.Flags().Parse(flags); err != nil {
		return nil, wrongFlag("manifest", fmt.Errorf("%s: %w", r.path, err))
	}
	return args, nil
}

// unlike says what is wrong with JSON, without the types that it was to be read into.
func unlike(err error) string {
	var mistyped *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &mistyped):
		return err.Error()
	case mistyped.Field == "":
		return "expected an object, got " + mistyped.Value
	}
	return fmt.Sprintf("field %s: found a %s", strings.TrimPrefix(mistyped.Field, "Manifest."), mistyped.Value)
}

// check refuses a workload or file that is not the one of the manifest.
func (r *repetition) check(f *simulateFlags) error {
	if r.of == nil {
		return nil
	}
	if got, want := f.Workload.Hash(), r.of.Workload.SHA256; got != want {
		return wrongFlag("manifest", fmt.Errorf("%s has changed since %s: its SHA-256 begins with %.12s, not %.12s", f.Workload.Name, r.path, got, want))
	}
	for _, was := range r.of.Files {
		for _, is := range f.Origin.Files {
			if is.Path == was.Path && is.SHA256 != was.SHA256 {
				return wrongFlag("manifest", fmt.Errorf("%s has changed since %s: its SHA-256 begins with %.12s, not %.12s", is.Path, r.path, is.SHA256, was.SHA256))
			}
		}
	}
	return nil
}

// originOf says by which arguments the same is asked for again, and which files they name.
func originOf(cmd *cobra.Command, args []string) (simulation.Origin, error) {
	o := simulation.Origin{Version: version.String(), Files: []simulation.File{}}
	var failed error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(ofOutput, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if many, ok := f.Value.(pflag.SliceValue); ok {
			values = many.GetSlice()
		}
		for _, value := range values {
			o.Arguments = append(o.Arguments, "--"+f.Name+"="+value)
			if f.Name == "cluster" || f.Name == "drop" || f.Name == "failures" && !strings.Contains(value, "=") {
				file, err := hashFile(value)
				if failed = cmp.Or(failed, err); file != nil {
					o.Files = append(o.Files, *file)
				}
			}
		}
	})
	o.Arguments = append(o.Arguments, args...)
	return o, failed
}

// hashFile hashes a file, if the path is that of one and not a generator or a word.
func hashFile(path string) (*simulation.File, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return &simulation.File{Path: path, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// writeManifest writes the manifest of a result for people and programs.
func writeManifest(o outFile, m *simulation.Manifest) error {
	if o.path == "" {
		return nil
	}
	return o.fill(func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(m)
	})
}
