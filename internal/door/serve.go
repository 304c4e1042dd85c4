package door

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// What one client can take of a server, and all of them.
const (
	mostConnections = 2048             // of each listener, so that who knocks at one keeps nobody from the other
	mostHeader      = 32 << 10         // bytes
	headerTime      = 5 * time.Second  // to send the header of a request
	idleTime        = 30 * time.Second // between two requests of a connection
)

// BodyTime is how long a client may take to send the body of a request.
const BodyTime = time.Minute

// Serve serves the connections of a listener until ctx is done. Then requests under way have a second to end.
func Serve(ctx context.Context, l net.Listener, inside http.Handler) error {
	visitors := newVisitors(l, mostConnections)
	server := &http.Server{
		Handler: hurried(inside), ConnState: visitors.notes, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0), // of clients that break off
	}
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(end) != nil {
			server.Close()
		}
	})
	defer stop()
	if err := server.Serve(visitors); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// hurried gives every request some time to be read, also where nobody wants its body.
func hurried(inside http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(BodyTime))
		inside.ServeHTTP(w, r)
	})
}
