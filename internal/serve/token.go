package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/tailcut/tailcut/internal/door"
)

// tokenFound says where a client finds the token.
const tokenFound = "from its folder: in $TAILCUT_TOKEN"

// readToken returns the token of a file, which it makes if there is none.
func readToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		token := door.NewToken()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(token + "\n")
		return token, errors.Join(err, f.Close())
	case err != nil:
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: others can read the token; make a new one: rm %s", path, path)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 20 {
		return "", fmt.Errorf("%s: expected a token of at least 20 letters; make a new one: rm %s", path, path)
	}
	return token, nil
}

// open is the door of a socket that only the owner can open.
func open(inside http.Handler) http.Handler { return inside }
