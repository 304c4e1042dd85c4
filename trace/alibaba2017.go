package trace

import "strings"

// The table batch_task of Alibaba's cluster-trace-v2017: comma-separated, with or without the header line that some
// copies have. Its rows name no dependencies, so all stages of a job are ready when it arrives.

var alibaba2017Columns = []string{
	"task_create_time", "task_end_time", "job_id", "task_id", "number_of_instances", "status", "cpus_requested", "memory_requested",
}

func isAlibaba2017(s *sample) bool {
	return len(s.csv) == 8 && (s.csv[0] == alibaba2017Columns[0] || integers(s.csv, 2, 3) && letters(s.csv[5]))
}

func (in *reader) alibaba2017() error {
	b := newBatch(in)
	err := in.eachRow(alibaba2017Columns, func(row []string) error {
		if row[0] == alibaba2017Columns[0] {
			return nil
		}
		return b.add(batchRow{name: in.names.add(row[3])}, row[2], row[4], row[5], row[0], row[1])
	})
	if err != nil {
		return err
	}
	return b.jobsOf()
}

// letters reports whether a text is a word such as Terminated.
func letters(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
