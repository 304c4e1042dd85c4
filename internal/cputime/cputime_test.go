package cputime

import "testing"

func TestUsed(t *testing.T) {
	begin := Used()
	for x := 1.0; Used() == begin; x /= 3 {
		_ = x
	}
	if begin <= 0 {
		t.Errorf("%v", begin)
	}
}
