package main

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
)

func TestContract(t *testing.T) {
	policytest.Run(t, &twinsEntry, "below=50", "below=3,order=fair")
}
