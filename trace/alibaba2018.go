package trace

import (
	"strconv"
	"strings"
)

// The table batch_task of Alibaba's cluster-trace-v2018: comma-separated, no header.
//
// Dependencies are in the task's name: R3_1_2 is task 3 of its job and waits for tasks 1 and 2; the letters in front
// tell the operator. A last part Stg1 is no dependency. A name of another form, such as task_Nzg3, has none. A
// dependency on a task that the table does not have, or that did not finish, is ignored, and a note says so.

var alibaba2018Columns = []string{
	"task_name", "instance_num", "job_name", "task_type", "status", "start_time", "end_time", "plan_cpu", "plan_mem",
}

func isAlibaba2018(s *sample) bool { return len(s.csv) == 9 && letters(s.csv[4]) }

func (in *reader) alibaba2018() error {
	b := newBatch(in)
	err := in.eachRow(alibaba2018Columns, func(row []string) error {
		r := batchRow{name: in.names.add(row[0]), firstNeed: uint32(len(b.needs))}
		r.id, b.needs = dependencies(row[0], b.needs)
		r.needs = uint16(len(b.needs) - int(r.firstNeed))
		return b.add(r, row[2], row[1], row[4], row[5], row[6])
	})
	if err != nil {
		return err
	}
	return b.jobsOf()
}

// dependencies returns the number in a task's name, 0 if it has none, and appends the numbers of the tasks that it
// waits for.
func dependencies(name string, needs []uint32) (id uint32, _ []uint32) {
	first, rest, _ := strings.Cut(name, "_")
	digits := strings.TrimLeft(first, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
	id, ok := taskNumber(digits)
	if !ok || len(digits) == len(first) {
		return 0, needs
	}
	before := len(needs)
	for rest != "" && len(needs)-before < maxStages {
		var part string
		part, rest, _ = strings.Cut(rest, "_")
		need, ok := taskNumber(part)
		if ok {
			needs = append(needs, need)
			continue
		}
		if _, stage := strings.CutPrefix(part, "Stg"); !stage {
			return 0, needs[:before]
		}
	}
	return id, needs
}

// taskNumber reads a number of at least 1.
func taskNumber(s string) (uint32, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return uint32(n), err == nil && n > 0
}
