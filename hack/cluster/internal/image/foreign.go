package image

import (
	"debug/elf"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Architectures are those that images are built for, as images name them, with
// what their programs say they are.
var architectures = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// foreign is an architecture that this machine does not run.
type foreign struct {
	machine elf.Machine
	// folder has the shared libraries.
	folder string
}

// foreign tells where the libraries of the image's architecture are; nil where
// it is this machine's own.
func (s Spec) foreign() (*foreign, error) {
	if s.arch() == runtime.GOARCH {
		return nil, nil
	}
	machine, known := architectures[s.arch()]
	if !known {
		return nil, fmt.Errorf("architecture %q is not known: amd64 and arm64 are", s.arch())
	}
	return &foreign{machine: machine, folder: s.Libraries}, nil
}

// foreignLibraries adds what a program of another architecture needs, by what
// the files themselves say: nothing of it can be run. They go to /lib, where
// every loader looks, and the loader to where the program asks for it.
func (w *layerWriter) foreignLibraries(program string) error {
	if w.foreign.folder == "" {
		return fmt.Errorf("its libraries are for another architecture: name their folder with --libraries")
	}
	loader, names, err := w.foreign.needs(program)
	if err != nil {
		return err
	}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		target := path.Join("/lib", name)
		if name == path.Base(loader) {
			target = loader
		}
		if w.seen[strings.TrimPrefix(target, "/")] {
			continue
		}
		file := filepath.Join(w.foreign.folder, name)
		_, more, err := w.foreign.needs(file)
		if err != nil {
			return fmt.Errorf("%s needs %s: %w", filepath.Base(program), name, err)
		}
		real, err := filepath.EvalSymlinks(file)
		if err != nil {
			return err
		}
		if err := w.file(Entry{}, real, target); err != nil {
			return err
		}
		names = append(names, more...)
	}
	return nil
}

// needs reads which loader a program asks for, if any, and which libraries it
// names, the loader among them.
func (f *foreign) needs(file string) (loader string, names []string, err error) {
	if _, err := os.Stat(file); err != nil {
		return "", nil, err
	}
	program, err := elf.Open(file)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", file, err)
	}
	defer program.Close()
	if program.Machine != f.machine {
		return "", nil, fmt.Errorf("%s is for %v, not for %v", file, program.Machine, f.machine)
	}
	for _, segment := range program.Progs {
		if segment.Type != elf.PT_INTERP {
			continue
		}
		text := make([]byte, segment.Filesz)
		if _, err := segment.ReadAt(text, 0); err != nil {
			return "", nil, fmt.Errorf("%s: %w", file, err)
		}
		loader = strings.TrimRight(string(text), "\x00")
		names = append(names, path.Base(loader))
	}
	libraries, err := program.ImportedLibraries()
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", file, err)
	}
	return loader, append(names, libraries...), nil
}
