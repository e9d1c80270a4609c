package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// entries reads a layer back: its names in order, and what each one is.
func entries(t *testing.T, layer Layer) ([]string, map[string]*tar.Header) {
	t.Helper()
	var out bytes.Buffer
	if err := writeLayer(&out, layer, nil); err != nil {
		t.Fatal(err)
	}
	var names []string
	headers := map[string]*tar.Header{}
	for archive := tar.NewReader(&out); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
		headers[header.Name] = header
	}
}

func text(content string) *string { return &content }

func TestLayerHoldsEveryKindOfEntryBelowItsDirectories(t *testing.T) {
	source := t.TempDir()
	if err := os.WriteFile(filepath.Join(source, "a"), []byte("abc"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(source, "b")); err != nil {
		t.Fatal(err)
	}
	names, headers := entries(t, Layer{Entries: []Entry{
		{Path: "/opt/app", From: source, UID: 7},
		{Path: "/etc/passwd", Text: text("root"), Mode: "0600"},
		{Path: "/bin", Link: "busybox", Names: []string{"sh", "cat"}},
		{Path: "/tmp", Directory: true, Mode: "1777"},
	}})
	want := "opt/ opt/app/ opt/app/a opt/app/b etc/ etc/passwd bin/ bin/sh bin/cat tmp/"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("entries:\n got %s\nwant %s", got, want)
	}
	if file := headers["opt/app/a"]; file.Mode != 0o750 || file.Uid != 7 || file.Size != 3 {
		t.Errorf("opt/app/a: mode %o, uid %d, size %d", file.Mode, file.Uid, file.Size)
	}
	if link := headers["opt/app/b"]; link.Typeflag != tar.TypeSymlink || link.Linkname != "a" {
		t.Errorf("opt/app/b leads to %q", link.Linkname)
	}
	if mode := headers["etc/passwd"].Mode; mode != 0o600 {
		t.Errorf("etc/passwd: mode %o", mode)
	}
	if mode := headers["tmp/"].Mode; mode != 0o1777 {
		t.Errorf("tmp: mode %o", mode)
	}
}

func TestLayerRefusesTheSamePathTwice(t *testing.T) {
	layer := Layer{Entries: []Entry{{Path: "/a", Text: text("1")}, {Path: "/a", Text: text("2")}}}
	if err := writeLayer(io.Discard, layer, nil); err == nil || !strings.Contains(err.Error(), "/a") {
		t.Errorf("writeLayer() = %v", err)
	}
}

func TestProgramComesWithItsLibraries(t *testing.T) {
	names, _ := entries(t, Layer{Entries: []Entry{{Path: "/bin/sh", From: "/bin/sh", Libraries: true}}})
	if all := strings.Join(names, " "); !strings.Contains(all, "libc.so") || !strings.Contains(all, "/ld-") {
		t.Errorf("no C library or no loader among %s", all)
	}
}

func TestBuildIsReproducible(t *testing.T) {
	dir := t.TempDir()
	spec := Spec{Tag: "localhost/x:1", Layers: []Layer{{Entries: []Entry{{Path: "/a", Text: text("1")}}}}}
	var archives [2][]byte
	for i := range archives {
		file := filepath.Join(dir, "archive")
		if err := Build(spec, file); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		archives[i] = content
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("the same spec made two different archives")
	}
	images, err := Content(filepath.Join(dir, "archive"))
	if err != nil || len(images) != 1 || images["localhost/x:1"] == "" {
		t.Errorf("Content() = %v, %v", images, err)
	}
}

func TestSpecErrorsNameWhatIsWrong(t *testing.T) {
	cases := map[string]string{
		`{"layers": []}`: "needs a tag",
		`{"tag": "x", "layers": [{"entries": [{"path": "a", "text": ""}]}]}`:                     "must be absolute",
		`{"tag": "x", "layers": [{"entries": [{"path": "/a"}]}]}`:                                "exactly one of",
		`{"tag": "x", "layers": [{"entries": [{"path": "/a", "text": "", "link": "b"}]}]}`:       "exactly one of",
		`{"tag": "x", "layers": [{"entries": [{"path": "/a", "text": "", "mode": "rwx"}]}]}`:     "octal",
		`{"tag": "x:${GRAPHWRIGHT_UNSET}", "layers": []}`:                                        "GRAPHWRIGHT_UNSET",
		`{"tag": "x", "layers": [{"entries": [{"path": "/a", "from": "${NO_SUCH_VARIABLE}"}]}]}`: "NO_SUCH_VARIABLE",
	}
	for content, want := range cases {
		file := filepath.Join(t.TempDir(), "spec.json")
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file, runtime.GOARCH); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant an error about %q", content, err, want)
		}
	}
}

// other is an architecture that this machine does not have.
func other() string {
	if runtime.GOARCH == "arm64" {
		return "amd64"
	}
	return "arm64"
}

// archived reads the files of an archive whose names match.
func archived(t *testing.T, file, pattern string) map[string][]byte {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	found := map[string][]byte{}
	for archive := tar.NewReader(in); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if matched, _ := filepath.Match(pattern, header.Name); matched {
			if found[header.Name], err = io.ReadAll(archive); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What docker load and "kind load image-archive" read, which know no OCI layout.
func TestArchiveIsOneOfDockerToo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "archive")
	spec := Spec{Tag: "localhost/x:1", Arch: other(), User: "7", Layers: []Layer{{Entries: []Entry{{Path: "/a", Text: text("1")}}}}}
	if err := Build(spec, file); err != nil {
		t.Fatal(err)
	}
	var images []struct {
		Config           string
		RepoTags, Layers []string
	}
	if err := json.Unmarshal(archived(t, file, "manifest.json")["manifest.json"], &images); err != nil {
		t.Fatal(err)
	}
	if len(images) != 1 || len(images[0].Layers) != 1 || strings.Join(images[0].RepoTags, " ") != "localhost/x:1" {
		t.Fatalf("manifest.json says %+v", images)
	}
	blobs := archived(t, file, "blobs/sha256/*")
	var config struct {
		Architecture, OS string
		Config           struct{ User string }
		RootFS           struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	if err := json.Unmarshal(blobs[images[0].Config], &config); err != nil {
		t.Fatal(err)
	}
	if config.Architecture != other() || config.OS != "linux" || config.Config.User != "7" {
		t.Errorf("the configuration says %+v", config)
	}
	layer := images[0].Layers[0]
	sum := fmt.Sprintf("%x", sha256.Sum256(blobs[layer]))
	if "blobs/sha256/"+sum != layer || "sha256:"+sum != config.RootFS.DiffIDs[0] {
		t.Errorf("layer %s has the digest %s, and is %s in the configuration", layer, sum, config.RootFS.DiffIDs[0])
	}
}

func TestProgramOfAnotherArchitectureNeedsItsLibraries(t *testing.T) {
	layers := []Layer{{Entries: []Entry{{Path: "/bin/sh", From: "/bin/sh", Libraries: true}}}}
	cases := map[string]Spec{
		"--libraries":         {Tag: "x", Arch: other(), Layers: layers},
		"is for EM_":          {Tag: "x", Arch: other(), Libraries: "/lib", Layers: layers},
		"amd64 and arm64 are": {Tag: "x", Arch: "sparc", Layers: layers},
	}
	for want, spec := range cases {
		err := Build(spec, filepath.Join(t.TempDir(), "archive"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Build() = %v, want an error about %q", err, want)
		}
	}
}

// The machine's own libraries, found by what the files say, are those that its
// loader finds.
func TestLibrariesAreFoundByWhatTheFilesSay(t *testing.T) {
	folders, _ := filepath.Glob("/lib/*-linux-gnu")
	if len(folders) == 0 {
		t.Skip("this machine does not keep its libraries as Debian does")
	}
	var out bytes.Buffer
	layer := Layer{Entries: []Entry{{Path: "/bin/sh", From: "/bin/sh", Libraries: true}}}
	own := &foreign{machine: architectures[runtime.GOARCH], folder: folders[0]}
	if err := writeLayer(&out, layer, own); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for archive := tar.NewReader(&out); ; {
		header, err := archive.Next()
		if err != nil {
			break
		}
		names[filepath.Base(header.Name)] = true
	}
	byLoader, _ := entries(t, layer)
	for _, name := range byLoader {
		if strings.Contains(name, ".so") && !names[filepath.Base(name)] {
			t.Errorf("%s is missing among %v", name, names)
		}
	}
}
