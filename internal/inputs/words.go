package inputs

import "slices"

// Separators stand between a command and the values of its tasks, and between sources.
var Separators = []string{":::", ":::+", "::::", "::::+"}

// Group is what stands behind a separator.
type Group struct {
	Separator string
	Words     []string // values, or the names of files
}

// Files tells whether the words name files.
func (g *Group) Files() bool { return len(g.Separator) > 3 && g.Separator[3] == ':' }

// Linked tells whether the values go with those of the source before.
func (g *Group) Linked() bool { return g.Separator[len(g.Separator)-1] == '+' }

// Split cuts the words of a command line into the command and what it is run for.
func Split(words []string) (command []string, groups []Group) {
	for i, w := range words {
		switch {
		case slices.Contains(Separators, w):
			groups = append(groups, Group{Separator: w})
		case len(groups) > 0:
			g := &groups[len(groups)-1]
			g.Words = append(g.Words, w)
		default:
			command = words[: i+1 : i+1]
		}
	}
	return command, groups
}
