package run

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// As GNU parallel 20221122 computes them (sub user_requested_processes), on a machine with four cores.
func TestCountSlots(t *testing.T) {
	for text, want := range map[string]int{
		"1": 1, "4": 4, "1e3": 1000, "65536": 65536, "100%": 4, "80%": 4, "50%": 2, "10.5%": 1, "150%": 6, "0%": 1, "+0": 4, "+2": 6, "-1": 3, "-3": 1, "-9": 1,
	} {
		if n, _, err := countSlots(text, 4); n != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", text, n, err, want)
		}
	}
	if n, ofPC, err := countSlots("0", 4); n < 4 || n > MostSlots || !ofPC || err != nil {
		t.Errorf("0: %d, %v, %v", n, ofPC, err)
	}
	for _, text := range []string{"", "four", "65537", "2000000%", "-1%", "%", "NaN%", "Inf%", "+", "-", "--1", "1.5", "+1.5", "map=1,shuffle=1", "99999999999999999999"} {
		if n, _, err := countSlots(text, 4); err == nil {
			t.Errorf("%q is read as %d", text, n)
		}
	}
}

func TestSlotsOfFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slots")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("3\n")
	if s, err := ParseSlots(path); err != nil || s.N != 3 || s.File != path {
		t.Errorf("got %+v, %v", s, err)
	}
	write("many\n")
	if s, err := ParseSlots(path); err == nil || !strings.HasPrefix(err.Error(), path+": expected a number from 0 to 65536") {
		t.Errorf("got %+v, %v", s, err)
	}
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	written := make(chan error)
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = w.Write(append([]byte("2\n"), bytes.Repeat([]byte(" "), 1<<20)...))
			w.Close()
		}
		written <- err
	}()
	n, err := ReadSlots(path)
	if w := <-written; err != nil || n != 2 || !errors.Is(w, syscall.EPIPE) {
		t.Errorf("of a pipe: %d slots, %v; who writes hears %v", n, err, w)
	}
	if s, err := ParseSlots(path + ".none"); err == nil || strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestParseLoad(t *testing.T) {
	for text, want := range map[string]float64{"4": 4, "0.5": 0.5, "100%": float64(Cores()), "50%": float64(Cores()) / 2} {
		if got, err := ParseLoad(text); got != want || err != nil {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "NaN", "Inf", "%", "0%", "a"} {
		if got, err := ParseLoad(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
