package main

import (
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/cloud/internal/why"
	"github.com/tailcut/tailcut/internal/door"
)

// newPage shows all pools in a browser. connect finds the cluster.
func newPage(started *bool, connect func() (*why.Cluster, error)) *cobra.Command {
	listen := ""
	cmd := &cobra.Command{
		Use: "page", Short: "Show all pools in a browser", Args: cobra.NoArgs, Example: "  kubectl tailcut page\n  kubectl tailcut page --listen 127.0.0.1:8080",
		Long: "Serve a page for a browser on this machine that shows all pools and their Jobs, and print its address.\n" +
			"It reads them with the rights of your kubeconfig file, so the address is for you alone. Ctrl-C ends it.",
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "loopback `address` and port; port 0 is any that is free")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := door.CheckListen(listen); err != nil {
			return fmt.Errorf("--listen: %w", err)
		}
		*started = true
		c, err := connect()
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		return servePage(ctx, c, listen, cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// servePage serves the page until ctx is done, and lets in who has the address that it prints.
func servePage(ctx context.Context, c *why.Cluster, listen string, out, log io.Writer) error {
	l, err := door.Listen(listen)
	if err != nil {
		return err
	}
	token := door.NewToken()
	fmt.Fprintf(out, "http://%s/login?token=%s\n", l.Addr(), token)
	fmt.Fprintln(log, "Open this address in a browser. Ctrl-C ends the page.")
	return door.Serve(ctx, l, door.Token(token, "which is in the address that kubectl tailcut page printed", l.Addr())(c.Page()))
}
