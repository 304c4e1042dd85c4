package mapreduce

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Glob returns the paths that a pattern names, in byte order. As in a shell, "*" and "?" stand for what a name may
// hold, "[a-z]" and "[!a-z]" for one character, and none of them for a dot in front. "**" stands for any number of
// folders, none too; a pattern with it names files only, so that none comes twice. What a run leaves beside its parts
// matches no pattern, nor does what is below a symbolic link match "**". What exists as it is written is meant as it
// is written, whatever is in it. What matches nothing is an error; a path without a pattern is returned as it is.
func Glob(ctx context.Context, pattern string) ([]string, error) {
	if _, err := os.Lstat(pattern); err == nil || !isPattern(pattern) {
		return []string{pattern}, nil
	}
	g := globber{ctx: ctx, filesOnly: slices.Contains(strings.Split(pattern, "/"), "**")}
	root, rest := "", pattern
	if strings.HasPrefix(pattern, "/") {
		root, rest = "/", strings.TrimLeft(pattern, "/")
	}
	err := g.match(root, strings.Split(rest, "/"))
	switch {
	case errors.Is(err, filepath.ErrBadPattern):
		return nil, fmt.Errorf("input: %s: a [ without its ], or a \\ with nothing behind it; quote it with \\ if it is part of a name", pattern)
	case err != nil:
		return nil, fmt.Errorf("input: %w", err)
	case len(g.found) == 0:
		return nil, fmt.Errorf("input: no file matches %s", pattern)
	}
	slices.Sort(g.found)
	return slices.Compact(g.found), nil
}

func isPattern(path string) bool { return strings.ContainsAny(path, `*?[\`) }

// globber looks for what a pattern names.
type globber struct {
	ctx       context.Context
	filesOnly bool
	found     []string
}

// match finds what is below a folder and has names that match.
func (g *globber) match(dir string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	name, rest := names[0], names[1:]
	if name == "" || name == "." || name == ".." {
		if len(rest) == 0 {
			return g.add(filepath.Join(dir, name))
		}
		return g.match(dir+name+"/", rest)
	}
	path := dir + name
	if _, err := os.Lstat(path); err == nil || !isPattern(name) {
		return g.step(path, rest)
	}
	if name == "**" {
		if len(rest) == 0 {
			rest = []string{"*"}
		}
		if err := g.match(dir, rest); err != nil {
			return err
		}
	}
	if err := g.ctx.Err(); err != nil {
		return err
	}
	pattern := strings.ReplaceAll(name, "[!", "[^")
	if _, err := filepath.Match(pattern, ""); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if errors.Is(err, fs.ErrNotExist) || isNotFolder(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") != strings.HasPrefix(name, ".") || isLeftover(entry.Name()) {
			continue
		}
		if name == "**" {
			if entry.IsDir() {
				err = g.match(dir+entry.Name()+"/", append([]string{"**"}, rest...))
			}
		} else if ok, _ := filepath.Match(pattern, entry.Name()); ok {
			err = g.step(dir+entry.Name(), rest)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// step goes on behind a name that is found.
func (g *globber) step(path string, rest []string) error {
	if len(rest) > 0 {
		return g.match(path+"/", rest)
	}
	return g.add(path)
}

func (g *globber) add(path string) error {
	info, err := os.Stat(path)
	if err == nil && !(g.filesOnly && !info.Mode().IsRegular()) {
		g.found = append(g.found, path)
	}
	if errors.Is(err, fs.ErrNotExist) || isNotFolder(err) {
		return nil
	}
	return err
}

func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
