package image

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// layerWriter writes one layer. Times are left out, so that the same files
// always make the same layer.
type layerWriter struct {
	tar  *tar.Writer
	seen map[string]bool
	// Where the libraries of another architecture are; nil for this machine's own.
	foreign *foreign
}

func writeLayer(out io.Writer, layer Layer, foreign *foreign) error {
	w := &layerWriter{tar: tar.NewWriter(out), seen: map[string]bool{}, foreign: foreign}
	for _, entry := range layer.Entries {
		for _, target := range entry.paths() {
			if err := w.add(entry, target); err != nil {
				return fmt.Errorf("%s: %w", target, err)
			}
		}
	}
	return w.tar.Close()
}

func (w *layerWriter) add(e Entry, target string) error {
	switch {
	case e.Directory:
		return w.directory(e, target)
	case e.Link != "":
		return w.header(&tar.Header{Typeflag: tar.TypeSymlink, Name: target, Linkname: e.Link, Mode: 0o777})
	case e.Text != nil:
		mode, _ := e.mode(0o644)
		header := &tar.Header{Name: target, Mode: mode, Size: int64(len(*e.Text)), Uid: e.UID, Gid: e.GID}
		if err := w.header(header); err != nil {
			return err
		}
		_, err := io.WriteString(w.tar, *e.Text)
		return err
	}
	if err := w.tree(e, target); err != nil {
		return err
	}
	if e.Libraries {
		return w.libraries(e.From)
	}
	return nil
}

func (w *layerWriter) directory(e Entry, target string) error {
	mode, _ := e.mode(0o755)
	return w.header(&tar.Header{Typeflag: tar.TypeDir, Name: target, Mode: mode, Uid: e.UID, Gid: e.GID})
}

// tree adds a file, or a directory with everything in it. Links inside a
// directory stay links; a From that is itself a link is followed.
func (w *layerWriter) tree(e Entry, target string) error {
	root, err := filepath.EvalSymlinks(e.From)
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		place := path.Join(target, relative)
		switch {
		case d.IsDir():
			return w.header(&tar.Header{Typeflag: tar.TypeDir, Name: place, Mode: 0o755, Uid: e.UID, Gid: e.GID})
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(file)
			if err != nil {
				return err
			}
			return w.header(&tar.Header{Typeflag: tar.TypeSymlink, Name: place, Linkname: link, Mode: 0o777})
		case d.Type().IsRegular():
			return w.file(e, file, place)
		}
		return fmt.Errorf("%s is neither a file nor a directory nor a link", file)
	})
}

func (w *layerWriter) file(e Entry, source, target string) error {
	file, err := os.Open(source)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	mode, _ := e.mode(int64(info.Mode().Perm()))
	if err := w.header(&tar.Header{Name: target, Mode: mode, Size: info.Size(), Uid: e.UID, Gid: e.GID}); err != nil {
		return err
	}
	_, err = io.Copy(w.tar, file)
	return err
}

// header writes an entry's header, after those of the directories it lies in.
func (w *layerWriter) header(h *tar.Header) error {
	h.Format = tar.FormatPAX
	name := strings.TrimPrefix(path.Clean(h.Name), "/")
	if name == "" || (w.seen[name] && h.Typeflag == tar.TypeDir) {
		return nil
	}
	if w.seen[name] {
		return fmt.Errorf("is there twice")
	}
	w.seen[name] = true
	if parent := path.Dir(name); parent != "." && !w.seen[parent] {
		if err := w.header(&tar.Header{Typeflag: tar.TypeDir, Name: parent, Mode: 0o755}); err != nil {
			return err
		}
	}
	h.Name = name
	if h.Typeflag == tar.TypeDir {
		h.Name += "/"
	}
	return w.tar.WriteHeader(h)
}

// libraries adds what a program needs, and its loader.
func (w *layerWriter) libraries(program string) error {
	if w.foreign != nil {
		return w.foreignLibraries(program)
	}
	return w.ownLibraries(program)
}

// A line of ldd names a library as "libm.so.6 => /lib/…/libm.so.6 (0x…)" and
// the loader as "/lib64/ld-linux-x86-64.so.2 (0x…)".
var libraryLine = regexp.MustCompile(`(?m)(?:=>\s*|^\s*)(/\S+) \(0x`)

// ownLibraries asks the loader of this machine, at whose paths they are.
func (w *layerWriter) ownLibraries(program string) error {
	output, err := exec.Command("ldd", program).CombinedOutput()
	if strings.Contains(string(output), "not a dynamic executable") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot tell which libraries %s needs: ldd: %w: %s", program, err, strings.TrimSpace(string(output)))
	}
	if strings.Contains(string(output), "not found") {
		return fmt.Errorf("%s needs a library that this machine does not have:\n%s", program, output)
	}
	for _, match := range libraryLine.FindAllStringSubmatch(string(output), -1) {
		library := match[1]
		if w.seen[strings.TrimPrefix(path.Clean(library), "/")] {
			continue
		}
		real, err := filepath.EvalSymlinks(library)
		if err != nil {
			return err
		}
		if err := w.file(Entry{}, real, library); err != nil {
			return err
		}
	}
	return nil
}
