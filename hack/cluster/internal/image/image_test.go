package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// entries reads a layer back: its names in order, and what each one is.
func entries(t *testing.T, layer Layer) ([]string, map[string]*tar.Header) {
	t.Helper()
	var out bytes.Buffer
	if err := writeLayer(&out, layer); err != nil {
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
	if err := writeLayer(io.Discard, layer); err == nil || !strings.Contains(err.Error(), "/a") {
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
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant an error about %q", content, err, want)
		}
	}
}
