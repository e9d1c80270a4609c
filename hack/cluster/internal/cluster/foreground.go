package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// runForeground keeps a control plane for as long as whoever started it wants
// it. Its processes die with this one, whatever ends it.
func runForeground(o upOptions) error {
	dir := *o.target.dir
	if dir == "" {
		temporary, err := os.MkdirTemp("", "graphwright-control-plane-")
		if err != nil {
			return err
		}
		dir = temporary
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "cluster.json")); err == nil {
		return fmt.Errorf("%s holds a cluster already: a control plane in the foreground wants a directory of its own", dir)
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	ctx, cancel := context.WithTimeout(context.Background(), o.timeout)
	defer cancel()
	gone := make(chan struct{})
	go func() {
		watchStdin(end)
		close(gone)
		cancel()
	}()

	c, err := startTied(ctx, dir, o)
	if err != nil {
		select {
		case <-gone:
			return errors.New("ended before it was ready")
		default:
			return err
		}
	}
	defer c.discard()
	o.json = true
	if err := c.report(os.Stdout, o); err != nil {
		return err
	}
	<-gone
	return nil
}

// startTied starts a control plane that ends with this process. A port that was
// free a moment ago may be somebody's by now: then it chooses others.
func startTied(ctx context.Context, dir string, o upOptions) (*Cluster, error) {
	for attempt := 1; ; attempt++ {
		c, err := create(dir, *o.target.name, ControlPlane, o)
		if err != nil {
			return nil, err
		}
		c.tied = true
		if err = c.bringUp(ctx); err == nil {
			return c, nil
		}
		c.discard()
		if attempt == 3 || ctx.Err() != nil || !strings.Contains(err.Error(), "address already in use") {
			return nil, err
		}
	}
}

// watchStdin returns at the first signal, or when standard input is a pipe or a
// socket and its other end is gone.
func watchStdin(end <-chan os.Signal) {
	closed := make(chan struct{})
	info, err := os.Stdin.Stat()
	if err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0 {
		go func() {
			buffer := make([]byte, 512)
			for {
				if n, err := os.Stdin.Read(buffer); n == 0 || err != nil {
					close(closed)
					return
				}
			}
		}()
	}
	select {
	case <-end:
	case <-closed:
	}
}

// discard ends a control plane nobody will ask again and removes its directory.
func (c *Cluster) discard() {
	if err := c.stop(0, c.processNames()...); err != nil {
		progress("%v", err)
	}
	if err := os.RemoveAll(c.dir); err != nil {
		progress("%v", err)
	}
}
