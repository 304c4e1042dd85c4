package serve

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// FitPolicy returns the specification of a policy as a server uses it: on slots of several classes, or of one. The
// notice says what is left of a policy that lacks something here, "" for nothing.
func FitPolicy(spec string, classes int) (fitted, notice string, err error) {
	parts := strings.Split(cmp.Or(spec, policy.Default), "/")
	for i, part := range parts {
		if part, err = policy.Live(part); err != nil {
			return "", "", err
		}
		odd, err := policy.Fit(part, policy.Place{Name: "a server", Jobs: true, Classes: classes > 1})
		if err != nil {
			return "", "", err
		}
		notice = cmp.Or(notice, odd)
		if parts[i], err = policy.Canonical(part); err != nil {
			return "", "", err
		}
	}
	fitted = strings.Join(parts, "/")
	p, err := policy.NewPerClass(fitted, 0, classes)
	if err != nil {
		return "", "", err
	}
	if sched.Paces(p) {
		return "", "", live.ErrPaces
	}
	return fitted, notice, nil
}

// policiesOf builds the policy of a journal, for the classes of slots that its machines have.
func policiesOf(h *trace.JournalHeader) (sched.Policy, error) {
	return policy.NewPerClass(h.Policy, h.Seed, h.Classes())
}

// fitClasses gives the classes of slots the numbers by which unfinished jobs know them, and their policies that order.
func (s *Server) fitClasses(to *live.Config, h *trace.JournalHeader, needed int) error {
	from, err := placesOf(classNames(h), needed, s.cfg.Classes)
	if err != nil {
		return grammar.Wrong("slots", err)
	}
	if slices.IsSorted(from) {
		return nil
	}
	names, machines := slices.Clone(s.cfg.Classes), slices.Clone(s.cfg.Machines)
	for i, at := range from {
		names[i], machines[i] = s.cfg.Classes[at], s.cfg.Machines[at]
		machines[i].Class = sched.Class(i)
	}
	s.cfg.Classes, s.cfg.Machines, s.cfg.Policy = names, machines, policy.Reorder(s.cfg.Policy, from)
	s.policy = s.cfg.Policy
	for i := range s.cfg.Others {
		s.cfg.Others[i] = policy.Reorder(s.cfg.Others[i], from)
	}
	s.rivals = newRivals(s.cfg.policies(), len(names))
	to.ClassNames, to.Machines, to.Policy = names, machines, s.cfg.Policy
	fmt.Fprintf(s.cfg.Log, "tailcut: the classes of slots keep the order in which unfinished jobs know them: %s, under %s\n", strings.Join(names, ", "), s.policy)
	return nil
}

// classNames returns the names of the classes of slots by their numbers. Journals of earlier versions have them as
// names of machines.
func classNames(h *trace.JournalHeader) []string {
	if len(h.ClassNames) > 0 {
		return h.ClassNames
	}
	names := make([]string, h.Classes())
	for _, m := range h.Machines {
		if names[m.Class] = m.Name; m.Name == noClass {
			names[m.Class] = ""
		}
	}
	return names
}

// noClass names the machine whose slots have no class.
const noClass = "local"

// placesOf returns for each number of a class its place among the names that are given. The classes below needed keep
// the numbers that they had; slots without a class become the first.
func placesOf(had []string, needed int, given []string) (from []int, err error) {
	for _, name := range had[:min(needed, len(had))] {
		at := slices.Index(given, name)
		switch {
		case at < 0 && name == "" && len(from) == 0:
			at = 0
		case at < 0:
			return nil, fmt.Errorf("jobs that are not over need slots of class %s: expected some, as in %s=1", name, strings.Join(had, "=1,"))
		}
		from = append(from, at)
	}
	for at := range given {
		if !slices.Contains(from, at) {
			from = append(from, at)
		}
	}
	return from, nil
}

// ParseSlots reads how many slots a server has, 8 or map=4,shuffle=2, and returns the names of the classes and a
// machine for each.
func ParseSlots(text string) (classes []string, machines []trace.JournalMachine, err error) {
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= run.MostSlots {
		return []string{""}, []trace.JournalMachine{{Name: noClass, Slots: n}}, nil
	}
	all, err := run.ParseClasses(text)
	for i, c := range all {
		classes = append(classes, c.Name)
		machines = append(machines, trace.JournalMachine{Name: c.Name, Class: sched.Class(i), Slots: c.Slots})
	}
	return classes, machines, err
}
