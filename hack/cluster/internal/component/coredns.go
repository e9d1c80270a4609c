package component

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/template"
)

func runCoreDNS() int {
	// The order in which a query passes the plugins, which is not that of the
	// Corefile. Only the plugins this cluster's Corefile uses are built in.
	dnsserver.Directives = []string{"health", "ready", "errors", "cache", "kubernetes", "template"}
	coremain.Run()
	return 0
}
