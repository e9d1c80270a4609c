package image

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// containerdName is the annotation containerd takes an imported image's name from.
const containerdName = "io.containerd.image.name"

// BuildCommand is "cluster image build".
func BuildCommand(args []string) error {
	flags := flag.NewFlagSet("cluster image build", flag.ExitOnError)
	output := flags.String("output", "", "archive to write, which containerd, docker load and kind load image-archive take")
	arch := flags.String("arch", runtime.GOARCH, "architecture of the image: amd64 or arm64")
	libraries := flags.String("libraries", "", "folder with the shared libraries of another architecture than this machine's")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: cluster image build --output ARCHIVE [--arch ARCH --libraries DIRECTORY] SPEC.json")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *output == "" {
		flags.Usage()
		return errors.New("needs a spec and --output")
	}
	spec, err := Load(flags.Arg(0), *arch)
	if err != nil {
		return err
	}
	spec.Libraries = *libraries
	return Build(spec, *output)
}

// blob is one file of the archive: in memory, or in a temporary file.
type blob struct {
	descriptor v1.Descriptor
	content    []byte
	file       string
}

// Build writes the image as an archive in two formats at once, over the same
// blobs: an OCI layout, and what docker save writes.
func Build(spec Spec, output string) error {
	if err := spec.validate(); err != nil {
		return err
	}
	foreign, err := spec.foreign()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(output), ".image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	var blobs []blob
	for i, layer := range spec.Layers {
		b, err := layerBlob(layer, filepath.Join(scratch, fmt.Sprintf("layer-%d", i)), foreign)
		if err != nil {
			return fmt.Errorf("%s: %w", spec.Tag, err)
		}
		blobs = append(blobs, b)
	}
	config, err := jsonBlob(v1.MediaTypeImageConfig, configOf(spec, blobs))
	if err != nil {
		return err
	}
	manifest := v1.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, Config: config.descriptor}
	for _, layer := range blobs {
		manifest.Layers = append(manifest.Layers, layer.descriptor)
	}
	top, err := jsonBlob(v1.MediaTypeImageManifest, manifest)
	if err != nil {
		return err
	}
	top.descriptor.Annotations = map[string]string{containerdName: spec.Tag, v1.AnnotationRefName: spec.Tag}
	partial := filepath.Join(scratch, "archive")
	docker, err := json.Marshal([]dockerImage{dockerImageOf(spec.Tag, manifest)})
	if err != nil {
		return err
	}
	if err := writeArchive(partial, top.descriptor, docker, append(blobs, config, top)); err != nil {
		return err
	}
	return os.Rename(partial, output)
}

func layerBlob(layer Layer, file string, foreign *foreign) (blob, error) {
	out, err := os.Create(file)
	if err != nil {
		return blob{}, err
	}
	defer out.Close()
	hash := sha256.New()
	if err := writeLayer(io.MultiWriter(out, hash), layer, foreign); err != nil {
		return blob{}, err
	}
	info, err := out.Stat()
	if err != nil {
		return blob{}, err
	}
	descriptor := v1.Descriptor{MediaType: v1.MediaTypeImageLayer, Digest: digest.NewDigest(digest.SHA256, hash), Size: info.Size()}
	return blob{descriptor: descriptor, file: file}, out.Close()
}

func configOf(spec Spec, layers []blob) v1.Image {
	config := v1.Image{
		Platform: v1.Platform{OS: "linux", Architecture: spec.arch()},
		Config: v1.ImageConfig{
			User: spec.User, WorkingDir: spec.WorkingDir, Env: spec.Env, Entrypoint: spec.Entrypoint, Cmd: spec.Cmd,
		},
		RootFS: v1.RootFS{Type: "layers"},
	}
	for _, layer := range layers {
		// Layers are not compressed, so that both digests are the same.
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, layer.descriptor.Digest)
	}
	return config
}

func jsonBlob(mediaType string, value any) (blob, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return blob{}, err
	}
	descriptor := v1.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
	return blob{descriptor: descriptor, content: content}, nil
}

func writeArchive(file string, top v1.Descriptor, docker []byte, blobs []blob) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	archive := tar.NewWriter(out)
	index, err := json.Marshal(v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex, Manifests: []v1.Descriptor{top}})
	if err != nil {
		return err
	}
	layout, err := json.Marshal(v1.ImageLayout{Version: v1.ImageLayoutVersion})
	if err != nil {
		return err
	}
	if err := writeBytes(archive, v1.ImageLayoutFile, layout); err != nil {
		return err
	}
	if err := writeBytes(archive, v1.ImageIndexFile, index); err != nil {
		return err
	}
	if err := writeBytes(archive, "manifest.json", docker); err != nil {
		return err
	}
	written := map[string]bool{} // two equal layers are one blob
	for _, b := range blobs {
		name := blobPath(b.descriptor)
		if written[name] {
			continue
		}
		written[name] = true
		if err := b.write(archive, name); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return out.Close()
}

func blobPath(descriptor v1.Descriptor) string {
	return "blobs/sha256/" + descriptor.Digest.Encoded()
}

// dockerImage is an entry of the manifest.json that docker save writes; docker
// load of older engines and kind look for it.
type dockerImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

func dockerImageOf(tag string, manifest v1.Manifest) dockerImage {
	image := dockerImage{Config: blobPath(manifest.Config), RepoTags: []string{tag}}
	for _, layer := range manifest.Layers {
		image.Layers = append(image.Layers, blobPath(layer))
	}
	return image
}

func (b blob) write(archive *tar.Writer, name string) error {
	if b.file == "" {
		return writeBytes(archive, name, b.content)
	}
	in, err := os.Open(b.file)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: b.descriptor.Size}); err != nil {
		return err
	}
	_, err = io.Copy(archive, in)
	return err
}

func writeBytes(archive *tar.Writer, name string, content []byte) error {
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}

// Content is the name and the digest of each image in an OCI archive.
func Content(file string) (map[string]digest.Digest, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	archive := tar.NewReader(in)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil // an archive of another kind, which containerd may know
		}
		if err != nil {
			return nil, fmt.Errorf("%s is no image archive: %w", file, err)
		}
		if header.Name != v1.ImageIndexFile {
			continue
		}
		var index v1.Index
		if err := json.NewDecoder(archive).Decode(&index); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		images := map[string]digest.Digest{}
		for _, manifest := range index.Manifests {
			if name := manifest.Annotations[containerdName]; name != "" {
				images[name] = manifest.Digest
			}
		}
		return images, nil
	}
}
