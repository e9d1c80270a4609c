package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"graphwright.dev/hack/cluster/internal/pki"
)

// reported is what "up" prints with --json.
type reported struct {
	Name       string            `json:"name"`
	Server     string            `json:"server"`
	Kubeconfig string            `json:"kubeconfig"`
	Dir        string            `json:"dir"`
	Users      map[string]string `json:"users,omitempty"`
}

func (c *Cluster) report(out io.Writer, o upOptions) error {
	users, err := c.writeUsers(o.users)
	if err != nil {
		return err
	}
	if !o.json {
		progress("cluster %q is up at %s; its kubeconfig:", c.Name, c.Server)
		_, err := fmt.Fprintln(out, c.adminKubeconfig())
		return err
	}
	return json.NewEncoder(out).Encode(reported{
		Name:       c.Name,
		Server:     c.Server,
		Kubeconfig: c.adminKubeconfig(),
		Dir:        c.dir,
		Users:      users,
	})
}

// writeUsers signs a kubeconfig for each --user and returns their paths.
func (c *Cluster) writeUsers(users []string) (map[string]string, error) {
	if len(users) == 0 {
		return nil, nil
	}
	authority, err := pki.Load(c.path("pki"))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.path("users"), 0o700); err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for _, text := range users {
		user, groups, err := extraUser(text)
		if err != nil {
			return nil, usageError{err.Error()}
		}
		path := c.path("users", user+".kubeconfig")
		if err := c.ensureKubeconfig(authority, path, user, groups...); err != nil {
			return nil, err
		}
		paths[user] = path
	}
	return paths, nil
}
