package s3

import "mirrorbeam.dev/internal/storage/bucket"

// NewCopying returns a storage that copies larger files by parts of a given size.
func NewCopying(limits bucket.Limits, bytes int64) *bucket.Store {
	sizes := usualSizes
	sizes.copied = bytes
	return bucket.New("s3", &service{sizes: sizes}, limits)
}
