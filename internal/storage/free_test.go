package storage

import (
	"path/filepath"
	"testing"
)

func TestFree(t *testing.T) {
	if free, known := Free(t.TempDir()); !known || free < 0 {
		t.Errorf("a folder: %d, %v", free, known)
	}
	for _, nowhere := range []string{"gs://bucket/folder", filepath.Join(t.TempDir(), "absent")} {
		if free, known := Free(nowhere); known || free != 0 {
			t.Errorf("%s: %d, %v", nowhere, free, known)
		}
	}
}
