package kube

import (
	"fmt"
	"strconv"
	"strings"
)

// indexSet is a set of completion indexes: element i tells whether i is in it.
type indexSet []bool

// parseIndexes reads the form of status.completedIndexes, such as "1,3-5,7". Indexes of n or more are left out: a Job
// may have been made smaller.
func parseIndexes(text string, n int) (indexSet, error) {
	s := make(indexSet, n)
	if text == "" {
		return s, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(from, 10, 31)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseUint(to, 10, 31)
		}
		if err != nil || last < first {
			return nil, fmt.Errorf("%q is neither an index nor a range of indexes", part)
		}
		for i := int(first); i <= int(last) && i < n; i++ {
			s[i] = true
		}
	}
	return s, nil
}

// String returns the form that parseIndexes reads, as short as the Job API has it.
func (s indexSet) String() string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if !s[i] {
			continue
		}
		first := i
		for i+1 < len(s) && s[i+1] {
			i++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(first))
		switch i - first {
		case 0:
		case 1:
			b.WriteString("," + strconv.Itoa(i))
		default:
			b.WriteString("-" + strconv.Itoa(i))
		}
	}
	return b.String()
}

func (s indexSet) has(i int) bool { return i >= 0 && i < len(s) && s[i] }

func (s indexSet) count() int {
	n := 0
	for _, in := range s {
		if in {
			n++
		}
	}
	return n
}

// or returns the union of two sets of the same Job.
func (s indexSet) or(t indexSet) indexSet {
	u := make(indexSet, len(s))
	for i := range s {
		u[i] = s[i] || t.has(i)
	}
	return u
}
