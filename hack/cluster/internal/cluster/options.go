package cluster

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

const defaultName = "local"

// listFlag is a flag that may be given several times.
type listFlag []string

func (l *listFlag) String() string { return strings.Join(*l, " ") }

func (l *listFlag) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// target names the cluster that a command works on.
type target struct {
	name *string
	dir  *string
}

func targetFlags(flags *flag.FlagSet) target {
	return target{
		name: flags.String("name", defaultName, "name of the cluster"),
		dir:  flags.String("dir", "", "its directory (default $GRAPHWRIGHT_STATE/NAME)"),
	}
}

func (t target) directory() (string, error) { return directory(*t.name, *t.dir) }

func (t target) load() (*Cluster, error) {
	dir, err := t.directory()
	if err != nil {
		return nil, err
	}
	return load(dir)
}

// parse refuses what the flags did not take.
func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return usageError{fmt.Sprintf("unexpected argument %q", flags.Arg(0))}
	}
	return nil
}

type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

// errUnhealthy is "status"'s answer for a cluster that does not work; what is
// wrong was printed.
var errUnhealthy = errors.New("the cluster does not work")

// ExitCode is 2 for a wrong command line and 1 for everything else.
func ExitCode(err error) int {
	var usage usageError
	if errors.As(err, &usage) {
		return 2
	}
	return 1
}

// componentFlags are the repeatable --COMPONENT-flag options of "up".
type componentFlags map[string]*listFlag

func extraFlags(flags *flag.FlagSet) componentFlags {
	all := componentFlags{}
	for _, component := range []string{"etcd", "apiserver", "controller-manager", "scheduler", "kubelet", "proxy"} {
		all[component] = &listFlag{}
		flags.Var(all[component], component+"-flag", "extra `flag` for the "+component+", as --flag=value; may be repeated")
	}
	return all
}

func (f componentFlags) values() map[string][]string {
	values := map[string][]string{}
	for component, list := range f {
		if len(*list) > 0 {
			values[component] = *list
		}
	}
	return values
}
