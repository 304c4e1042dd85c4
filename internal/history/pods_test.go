package history

import (
	"fmt"
	"strings"
	"testing"
)

// An original and its clone are attempts of one task, in Jobs with and without indexes; other pods are tasks by themselves.
func TestPodsOfTasks(t *testing.T) {
	var pods []string
	for i, of := range []string{
		`"annotations":{"batch.kubernetes.io/job-completion-index":"4"}`, `"annotations":{"batch.kubernetes.io/job-completion-index":"4"}`,
		`"labels":{"tailcut.dev/task":"7"}`, `"labels":{"tailcut.dev/task":"7"}`, `"labels":{}`,
	} {
		pods = append(pods, fmt.Sprintf(`{"kind":"Pod","metadata":{"name":"p%d",%s,"ownerReferences":[{"name":"j"}]},"status":{"phase":"Succeeded","containerStatuses":[
			{"state":{"terminated":{"startedAt":"2026-01-01T00:00:00Z","finishedAt":"2026-01-01T00:00:01Z"}}}]}}`, i, of))
	}
	_, all, err := readAll(`{"apiVersion":"v1","items":[`+strings.Join(pods, ",")+`]}`, "")
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, a := range all {
		text += fmt.Sprintf("%d.%d ", a.Task, a.Number)
	}
	if text != "4.0 4.1 7.0 7.1 0.0 " {
		t.Error(text)
	}
}
