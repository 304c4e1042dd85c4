package main

import (
	"os"
	"testing"
	"time"
)

// The end of a caller is heard although nobody reads what it has said, and not before.
func TestAfterCaller(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := out.WriteString("a call"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan time.Time, 1)
	afterCaller(in, 100*time.Millisecond, func() { ended <- time.Now() })
	select {
	case <-ended:
		t.Fatal("it ends while its caller lives")
	case <-time.After(200 * time.Millisecond):
	}
	closed := time.Now()
	out.Close()
	select {
	case at := <-ended:
		if at.Sub(closed) < 100*time.Millisecond {
			t.Errorf("it ends after %v", at.Sub(closed))
		}
	case <-time.After(20 * time.Second):
		t.Error("it never ends")
	}
}
