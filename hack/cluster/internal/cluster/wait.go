package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"graphwright.dev/hack/cluster/internal/supervise"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const pollInterval = 50 * time.Millisecond

// await polls until done says so. It gives up at once when one of the processes
// that the condition depends on has ended.
func await(ctx context.Context, what string, needed []*supervise.Process, done func(context.Context) error) error {
	var last error
	for {
		if last = done(ctx); last == nil {
			return nil
		}
		for _, p := range needed {
			if !p.Running() {
				return fmt.Errorf("%s ended before %s; the end of its log (%s):\n%s", p.Name, what, p.LogFile, p.LogTail(12))
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up waiting until %s: %w%s", what, last, logsOf(needed))
		case <-time.After(pollInterval):
		}
	}
}

func logsOf(processes []*supervise.Process) string {
	text := ""
	for _, p := range processes {
		text += fmt.Sprintf("\nthe end of %s:\n%s", p.LogFile, p.LogTail(6))
	}
	return text
}

func (c *Cluster) restConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.adminKubeconfig())
	if err != nil {
		return nil, err
	}
	config.Timeout = 10 * time.Second
	config.QPS = -1 // no client-side limit
	return config, nil
}

func (c *Cluster) client() (*kubernetes.Clientset, error) {
	config, err := c.restConfig()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

func (c *Cluster) waitForAPIServer(ctx context.Context, needed ...*supervise.Process) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	return await(ctx, "the API server is ready", needed, func(ctx context.Context) error {
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err
	})
}

// waitForControllers waits for the two processes, and for the default namespace
// to be usable: its ServiceAccount is the controller manager's work.
func (c *Cluster) waitForControllers(ctx context.Context, manager, scheduler *supervise.Process) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	needed := []*supervise.Process{manager, scheduler}
	err = await(ctx, "the scheduler is healthy", needed, func(ctx context.Context) error {
		return c.probe(ctx, c.Ports.Scheduler)
	})
	if err != nil {
		return err
	}
	return await(ctx, "the controllers work", needed, func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// probe asks /healthz of a component on 127.0.0.1, whose certificate is its own.
// The ports of a node's components are inside its namespace: there the
// component counts as healthy while it runs.
func (c *Cluster) probe(ctx context.Context, port int) error {
	if c.Mode == Node {
		return nil
	}
	client := &http.Client{
		Timeout:   2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1:"+strconv.Itoa(port)+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("/healthz answers %s", response.Status)
	}
	return nil
}
