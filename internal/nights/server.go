package nights

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mostFetched is of how many applications a History Server is asked for the logs, the latest.
const mostFetched = 100

// IsServer tells whether a path is the address of a History Server.
func IsServer(path string) bool {
	return strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://")
}

// Fetch asks Spark's History Server at an address for the event logs of the applications that have ended, and puts them
// into a folder of their own. It returns their paths.
func Fetch(ctx context.Context, address string, since time.Time, folder string) (logs []string, err error) {
	base, err := url.Parse(strings.TrimSuffix(address, "/"))
	if err != nil {
		return nil, fmt.Errorf("%s: expected the address of a History Server, such as http://host:18080", address)
	}
	query := url.Values{"status": {"completed"}, "limit": {fmt.Sprint(mostFetched)}}
	if !since.IsZero() {
		query.Set("minDate", since.UTC().Format("2006-01-02T15:04:05.000GMT"))
	}
	var applications []struct {
		ID       string
		Attempts []struct{ AttemptID string }
	}
	body, err := get(ctx, base.JoinPath("api/v1/applications").String()+"?"+query.Encode())
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(&applications); err != nil {
		return nil, fmt.Errorf("%s: expected the applications of a History Server: %w", address, err)
	}
	for _, a := range applications {
		if !filepath.IsLocal(a.ID) || a.ID != filepath.Base(a.ID) || a.ID == "." {
			return nil, fmt.Errorf("%s: expected the id of an application, got %q", address, a.ID)
		}
		path := base.JoinPath("api/v1/applications", a.ID)
		if len(a.Attempts) > 0 && a.Attempts[0].AttemptID != "" { // the latest comes first
			path = path.JoinPath(a.Attempts[0].AttemptID)
		}
		log, err := fetchLog(ctx, path.JoinPath("logs").String(), filepath.Join(folder, a.ID))
		if err != nil {
			return nil, err
		}
		logs = append(logs, log)
	}
	return logs, nil
}

func get(ctx context.Context, address string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s: expected a History Server, got %s", address, response.Status)
	}
	return response.Body, nil
}

// fetchLog unpacks the archive with an application's log: one file, or the files of a rolling log. It returns the file
// or their folder.
func fetchLog(ctx context.Context, address, folder string) (string, error) {
	body, err := get(ctx, address)
	if err != nil {
		return "", err
	}
	defer body.Close()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	packed := filepath.Join(folder, "logs.zip")
	if err := write(packed, body); err != nil {
		return "", fmt.Errorf("%s: %w", address, err)
	}
	defer os.Remove(packed)
	archive, err := zip.OpenReader(packed)
	if err != nil {
		return "", fmt.Errorf("%s: expected an archive of event logs: %w", address, err)
	}
	defer archive.Close()
	log := ""
	for _, f := range archive.File {
		name := filepath.Base(f.Name)
		if f.FileInfo().IsDir() || strings.HasPrefix(name, "appstatus_") {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", address, f.Name, err)
		}
		err = write(filepath.Join(folder, name), in)
		in.Close()
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", address, f.Name, err)
		}
		if log = filepath.Join(folder, name); strings.HasPrefix(name, "events_") {
			log = folder
		}
	}
	if log == "" {
		return "", fmt.Errorf("%s: the archive has no event log", address)
	}
	return log, nil
}

// write writes a new file.
func write(path string, from io.Reader) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, from); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
