// Package image builds container images without a container engine: an OCI
// image archive from files of this machine.
package image

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
)

// Spec describes one image.
type Spec struct {
	// Tag is the image's full name, such as localhost/graphwright:dev. With
	// the registry "localhost" nothing is ever looked up elsewhere.
	Tag        string   `json:"tag"`
	Layers     []Layer  `json:"layers"`
	User       string   `json:"user,omitempty"`
	WorkingDir string   `json:"workingDir,omitempty"`
	Env        []string `json:"env,omitempty"`
	Entrypoint []string `json:"entrypoint,omitempty"`
	Cmd        []string `json:"cmd,omitempty"`
	// Arch is the architecture, as images name it; by default this machine's.
	Arch string `json:"-"`
	// Libraries is the folder with the shared libraries of another architecture.
	Libraries string `json:"-"`
}

func (s Spec) arch() string {
	if s.Arch == "" {
		return runtime.GOARCH
	}
	return s.Arch
}

// Layer is one layer; what changes together belongs in one.
type Layer struct {
	Entries []Entry `json:"entries"`
}

// Entry puts one thing at Path. Exactly one of From, Text, Link and Directory
// says what.
type Entry struct {
	Path string `json:"path"`
	// From is a file or a directory of this machine, taken with everything in
	// it; relative to the spec.
	From string `json:"from,omitempty"`
	// Libraries adds the shared libraries the program From needs, and its
	// loader, at the paths they have on this machine.
	Libraries bool `json:"libraries,omitempty"`
	// Text is the content itself.
	Text *string `json:"text,omitempty"`
	// Link makes a symbolic link to this target.
	Link string `json:"link,omitempty"`
	// Names makes one such entry for each name, in the directory Path.
	Names []string `json:"names,omitempty"`
	// Directory makes an empty directory.
	Directory bool `json:"directory,omitempty"`
	// Mode is octal; by default that of the file, 0644 for text, 0755 for directories.
	Mode string `json:"mode,omitempty"`
	UID  int    `json:"uid,omitempty"`
	GID  int    `json:"gid,omitempty"`
}

// besideSpec reads a relative path as one from the spec's own directory.
func besideSpec(file, from string) string {
	if from == "" || filepath.IsAbs(from) {
		return from
	}
	return filepath.Join(filepath.Dir(file), from)
}

// Load reads a spec. ${NAME} in a from, in an env or in the tag is replaced by
// the environment's value; ARCH is the image's architecture as images name it,
// NODE_ARCH as Node does.
func Load(file, arch string) (Spec, error) {
	spec := Spec{Arch: arch}
	content, err := os.ReadFile(file)
	if err != nil {
		return spec, err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields() // a misspelt field would silently do nothing
	if err := decoder.Decode(&spec); err != nil {
		return spec, fmt.Errorf("%s: %w", file, err)
	}
	var missing []string
	expand := func(text string) string {
		return os.Expand(text, func(name string) string {
			value, found := variable(name, arch)
			if !found {
				missing = append(missing, name)
			}
			return value
		})
	}
	spec.Tag = expand(spec.Tag)
	for i := range spec.Env {
		spec.Env[i] = expand(spec.Env[i])
	}
	for _, layer := range spec.Layers {
		for i := range layer.Entries {
			layer.Entries[i].From = besideSpec(file, expand(layer.Entries[i].From))
		}
	}
	if len(missing) > 0 {
		return spec, fmt.Errorf("%s uses ${%s}, which is not set", file, missing[0])
	}
	return spec, spec.validate()
}

func variable(name, arch string) (string, bool) {
	switch name {
	case "ARCH":
		return arch, true
	case "NODE_ARCH":
		if arch == "amd64" {
			return "x64", true
		}
		return arch, true
	}
	return os.LookupEnv(name)
}

func (s Spec) validate() error {
	if s.Tag == "" {
		return fmt.Errorf("an image needs a tag")
	}
	for _, layer := range s.Layers {
		for _, entry := range layer.Entries {
			if err := entry.validate(); err != nil {
				return fmt.Errorf("%s: entry %q: %w", s.Tag, entry.Path, err)
			}
		}
	}
	return nil
}

func (e Entry) validate() error {
	if !path.IsAbs(e.Path) {
		return fmt.Errorf("the path must be absolute")
	}
	given := 0
	for _, set := range []bool{e.From != "", e.Text != nil, e.Link != "", e.Directory} {
		if set {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("needs exactly one of from, text, link and directory")
	}
	_, err := e.mode(0)
	return err
}

func (e Entry) mode(otherwise int64) (int64, error) {
	if e.Mode == "" {
		return otherwise, nil
	}
	mode, err := strconv.ParseInt(e.Mode, 8, 32)
	if err != nil {
		return 0, fmt.Errorf("mode %q is not an octal number", e.Mode)
	}
	return mode, nil
}

// paths are the places an entry stands for.
func (e Entry) paths() []string {
	if len(e.Names) == 0 {
		return []string{path.Clean(e.Path)}
	}
	paths := make([]string, 0, len(e.Names))
	for _, name := range e.Names {
		paths = append(paths, path.Join(e.Path, name))
	}
	return paths
}
