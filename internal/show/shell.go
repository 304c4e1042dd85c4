package show

import (
	"fmt"
	"strconv"
	"strings"
)

// ShellWord quotes a word so that it can be shown and pasted into a shell: what a terminal would obey is escaped.
func ShellWord(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%{}"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
		return fmt.Sprintf("$%s", strings.ReplaceAll(strconv.Quote(word), `"`, `'`))
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
