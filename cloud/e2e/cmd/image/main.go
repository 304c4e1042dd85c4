// Image packs programs as an image that holds nothing else: image [FLAG...] OUT.tar NAME PROGRAM...
//
// The archive is an OCI layout and what docker save writes at once, so that docker, podman, ctr and skopeo read it. The
// same programs give the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// image is what is packed.
type image struct {
	name         string   // such as localhost/task:e2e
	programs     []string // the first is the entry point
	user         string
	certificates string // file of the authorities that the programs trust, or ""
	version      string
}

func main() {
	var i image
	flag.StringVar(&i.user, "user", "", "`user` that the program runs as")
	flag.StringVar(&i.certificates, "certificates", "", "`file` of certificates to put where Go's libraries look for them")
	flag.StringVar(&i.version, "version", "", "`version` in the image's labels")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: image [FLAG...] OUT.tar NAME PROGRAM...")
		flag.PrintDefaults()
	}
	if flag.Parse(); flag.NArg() < 3 {
		flag.Usage()
		os.Exit(2)
	}
	i.name, i.programs = flag.Arg(1), flag.Args()[2:]
	if err := i.write(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// write writes the archive.
func (i *image) write(out string) error {
	var b bytes.Buffer
	entries, err := i.archive()
	if err != nil {
		return err
	}
	if err := archive(&b, entries...); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o644)
}

// archive returns what is in the archive: blobs, and for each of the two formats the files that say which is which.
func (i *image) archive() ([]entry, error) {
	architecture, err := architectureOf(i.programs[0])
	if err != nil {
		return nil, err
	}
	layer, err := i.layer()
	if err != nil {
		return nil, err
	}
	settings := map[string]any{
		"Entrypoint": []string{"/" + filepath.Base(i.programs[0])}, "Env": []string{"PATH=/"}, "User": i.user, "Labels": i.labels(),
	}
	config, err := json.Marshal(map[string]any{
		"architecture": architecture, "os": "linux", "config": settings,
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest(layer)}},
	})
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": descriptor("application/vnd.oci.image.config.v1+json", config),
		"layers": []any{descriptor("application/vnd.oci.image.layer.v1.tar", layer)},
	})
	if err != nil {
		return nil, err
	}
	mine := descriptor("application/vnd.oci.image.manifest.v1+json", manifest)
	mine["platform"] = map[string]string{"architecture": architecture, "os": "linux"}
	tag := i.name[strings.LastIndexByte(i.name, ':')+1:]
	mine["annotations"] = map[string]string{"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": i.name}
	index, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": []any{mine},
	})
	if err != nil {
		return nil, err
	}
	docker, err := json.Marshal([]map[string]any{{"Config": blob(config), "RepoTags": []string{i.name}, "Layers": []string{blob(layer)}}})
	if err != nil {
		return nil, err
	}
	return []entry{
		{"blobs/", 0o755, nil}, {"blobs/sha256/", 0o755, nil},
		{blob(config), 0o644, config}, {blob(layer), 0o644, layer}, {blob(manifest), 0o644, manifest},
		{"index.json", 0o644, index}, {"manifest.json", 0o644, docker}, {"oci-layout", 0o644, []byte(`{"imageLayoutVersion": "1.0.0"}`)},
	}, nil
}

// labels say what the image is.
func (i *image) labels() map[string]string {
	if i.version == "" {
		return nil
	}
	return map[string]string{
		"org.opencontainers.image.title": filepath.Base(i.programs[0]), "org.opencontainers.image.version": i.version,
		"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": "https://github.com/tailcut/tailcut",
	}
}

// layer returns the files of the image: the programs, certificates, and a folder for what is of the moment.
func (i *image) layer() ([]byte, error) {
	entries := []entry{{"tmp/", 0o1777, nil}}
	if i.certificates != "" {
		text, err := os.ReadFile(i.certificates)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{"etc/", 0o755, nil}, entry{"etc/ssl/", 0o755, nil}, entry{"etc/ssl/certs/", 0o755, nil},
			entry{"etc/ssl/certs/ca-certificates.crt", 0o644, text})
	}
	for _, program := range i.programs {
		text, err := os.ReadFile(program)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{filepath.Base(program), 0o755, text})
	}
	var b bytes.Buffer
	err := archive(&b, entries...)
	return b.Bytes(), err
}

// architectureOf returns what a program runs on, as images name it.
func architectureOf(program string) (string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", fmt.Errorf("%s: no program of Linux: %w", program, err)
	}
	defer f.Close()
	switch f.Machine {
	case elf.EM_X86_64:
		return "amd64", nil
	case elf.EM_AARCH64:
		return "arm64", nil
	}
	return "", fmt.Errorf("%s: expected a program for amd64 or arm64, not %v", program, f.Machine)
}

func digest(text []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(text)) }

// blob returns where a blob is in the archive.
func blob(text []byte) string { return fmt.Sprintf("blobs/sha256/%x", sha256.Sum256(text)) }

func descriptor(mediaType string, text []byte) map[string]any {
	return map[string]any{"mediaType": mediaType, "digest": digest(text), "size": len(text)}
}

// entry is a file of an archive, or a folder if its name ends in a slash.
type entry struct {
	name string
	mode int64
	text []byte
}

func archive(out io.Writer, entries ...entry) error {
	w := tar.NewWriter(out)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.text)), ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(e.text); err != nil {
			return err
		}
	}
	return w.Close()
}
