package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The token is made once, and only its owner can read it.
func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	token, err := readToken(path)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := readToken(path); err != nil || again != token {
		t.Fatalf("the second time the token is %q, not %q (%v)", again, token, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readToken(path); err == nil || !strings.Contains(err.Error(), "others can read the token") {
		t.Errorf("a token that others can read: %v", err)
	}
}
