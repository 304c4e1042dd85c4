package door

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// ProblemType is the media type of an answer that says what was wrong (RFC 9457).
const ProblemType = "application/problem+json"

// Refuse answers that something was wrong.
func Refuse(w http.ResponseWriter, status int, format string, args ...any) {
	Answer(w, status, ProblemType, map[string]any{"title": http.StatusText(status), "status": status, "detail": fmt.Sprintf(format, args...)})
}

// Answer writes something as JSON that no cache keeps.
func Answer(w http.ResponseWriter, status int, kind string, what any) {
	text, err := json.Marshal(what)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"title":"Internal Server Error","status":500}`)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}
