package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// sources is where the sources are, as Go finds them.
const sources = "https://mirrorbeam.dev"

// nobody is the user of the image, who has no rights.
const nobody = "65532"

// image is an image for containers in the layout of the Open Container Initiative, with a variant for each processor.
// It is empty if no program is for Linux.
func (r *release) image() (file, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	var variants int
	for _, p := range r.programs {
		if p.system != "linux" {
			continue
		}
		image, err := r.variant(p)
		if err != nil {
			return file{}, fmt.Errorf("make the image for %s: %w", p.target, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.system, Architecture: p.processor}},
		})
		variants++
	}
	if variants == 0 {
		return file{}, nil
	}
	temp, err := os.MkdirTemp("", "release-")
	if err != nil {
		return file{}, err
	}
	defer os.RemoveAll(temp)
	// Tools copy the one entry of the outer index, which they know by its name.
	written, err := layout.Write(temp, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return file{}, err
	}
	if err := written.AppendIndex(index,
		layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version.plain})); err != nil {
		return file{}, err
	}
	content, err := r.packFolder(temp)
	return file{"runjob-" + r.version.plain + "-oci.tar", content}, err
}

// packFolder makes a tar file of a folder.
func (r *release) packFolder(folder string) ([]byte, error) {
	var entries []entry
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error { // in the order of names
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		entries = append(entries, entry{filepath.ToSlash(name), 0o644, content})
		return err
	})
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	err = writeTar(&packed, r.made, entries)
	return packed.Bytes(), err
}

// variant is the image for a processor: what a program expects of a system, and the program.
func (r *release) variant(p program) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, entries := range [][]entry{r.ground(), {{"runjob", 0o755, p.content}}} {
		packed, err := compressed(r.made, entries)
		if err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(packed)), nil
		}, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, err
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return nil, err
		}
	}
	made := v1.Time{Time: r.made}
	return mutate.ConfigFile(image, func() *v1.ConfigFile {
		known, err := image.ConfigFile()
		if err != nil {
			return nil
		}
		c := known.DeepCopy()
		c.OS, c.Architecture, c.Created = p.system, p.processor, made
		c.Config = v1.Config{
			User:       nobody + ":" + nobody,
			Entrypoint: []string{"/runjob"},
			WorkingDir: "/",
			Labels: map[string]string{
				"org.opencontainers.image.title": "runjob", "org.opencontainers.image.version": r.version.plain,
				"org.opencontainers.image.revision": r.commit, "org.opencontainers.image.source": sources,
				"org.opencontainers.image.description": describe, "org.opencontainers.image.licenses": "Apache-2.0",
			},
		}
		return c
	}())
}

// ground is what a program expects of a system: users, a folder for temporary files, and the certificates of the web.
func (r *release) ground() []entry {
	var certificates bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // a file of certificates has no way to write one
			_ = pem.Encode(&certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // into memory
		}
	}
	return []entry{
		{"tmp/", 0o1777, nil},
		{
			"etc/passwd", 0o644,
			[]byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:" + nobody + ":" + nobody +
				":nonroot:/tmp:/sbin/nologin\n"),
		},
		{"etc/group", 0o644, []byte("root:x:0:\nnonroot:x:" + nobody + ":\n")},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, certificates.Bytes()},
		{"usr/share/doc/runjob/LICENSE", 0o644, r.licence},
		{"usr/share/doc/runjob/licences.txt", 0o644, r.licences},
	}
}
