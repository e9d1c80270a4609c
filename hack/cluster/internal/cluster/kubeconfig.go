package cluster

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"graphwright.dev/hack/cluster/internal/pki"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfigFor signs a client certificate and returns the kubeconfig of it.
func (c *Cluster) kubeconfigFor(authority *pki.Authority, user string, groups []string) ([]byte, error) {
	pair, err := authority.Sign(pki.Request{User: user, Groups: groups})
	if err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[c.Name] = &clientcmdapi.Cluster{Server: c.Server, CertificateAuthorityData: authority.PEM}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: pair.Certificate, ClientKeyData: pair.Key}
	config.Contexts[c.Name] = &clientcmdapi.Context{Cluster: c.Name, AuthInfo: user}
	config.CurrentContext = c.Name
	return clientcmd.Write(*config)
}

// ensureKubeconfig writes the kubeconfig unless the file exists.
func (c *Cluster) ensureKubeconfig(authority *pki.Authority, path, user string, groups ...string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	content, err := c.kubeconfigFor(authority, user, groups)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// Kubeconfig is the command "kubeconfig".
func Kubeconfig(args []string) error {
	flags := flag.NewFlagSet("cluster kubeconfig", flag.ExitOnError)
	target := targetFlags(flags)
	user := flags.String("user", "", "name of the user; without it the path of the administrator's kubeconfig is printed")
	output := flags.String("output", "-", "file to write, - for standard output")
	var groups listFlag
	flags.Var(&groups, "group", "a group of the user; may be repeated")
	if err := parse(flags, args); err != nil {
		return err
	}
	c, err := target.load()
	if err != nil {
		return err
	}
	if *user == "" {
		fmt.Println(c.adminKubeconfig())
		return nil
	}
	authority, err := pki.Load(c.path("pki"))
	if err != nil {
		return err
	}
	content, err := c.kubeconfigFor(authority, *user, groups)
	if err != nil {
		return err
	}
	if *output == "-" {
		_, err = os.Stdout.Write(content)
		return err
	}
	return os.WriteFile(*output, content, 0o600)
}

// UseKubeconfig points KUBECONFIG at the cluster that GRAPHWRIGHT_CLUSTER names
// ("local" if unset), where there is one.
func UseKubeconfig() {
	name := os.Getenv("GRAPHWRIGHT_CLUSTER")
	if name == "" {
		name = defaultName
	}
	dir, err := directory(name, "")
	if err != nil {
		return
	}
	if c, err := load(dir); err == nil {
		_ = os.Setenv("KUBECONFIG", c.adminKubeconfig())
	}
}

// extraUser is "NAME" or "NAME=GROUP,GROUP".
func extraUser(text string) (name string, groups []string, err error) {
	name, list, _ := strings.Cut(text, "=")
	if name == "" || strings.ContainsAny(name, "/\x00") {
		return "", nil, fmt.Errorf("--user %q: want NAME or NAME=GROUP,GROUP, the name without a slash", text)
	}
	if list != "" {
		groups = strings.Split(list, ",")
	}
	return name, groups, nil
}
