package store

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"gocloud.dev/blob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
)

// openGoogle opens a bucket of Google Cloud Storage with the application default credentials, or without any for
// ?anonymous=true and a server on this machine. What gcsblob registers for gs:// by itself goes on without credentials
// when there are none, and says so on the standard output.
func openGoogle(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	client := gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())
	if u.Query().Get("anonymous") != "true" && os.Getenv("STORAGE_EMULATOR_HOST") == "" {
		creds, err := gcp.DefaultCredentials(ctx)
		if err != nil {
			return nil, fmt.Errorf("gs://%s: no credentials: %w", u.Host, err)
		}
		if client, err = gcp.NewHTTPClient(gcp.DefaultTransport(), creds.TokenSource); err != nil {
			return nil, err
		}
	}
	return (&gcsblob.URLOpener{Client: client}).OpenBucketURL(ctx, u)
}
