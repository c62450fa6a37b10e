// Package buckets lets the stages open files in buckets: names that begin with gs:// or s3://. A program that imports
// transforms and works in a bucket imports this package as well, for its effect:
//
//	import _ "mirrorbeam/buckets"
package buckets

import (
	"mirrorbeam/internal/ground/storage/gcs"
	"mirrorbeam/internal/ground/storage/s3"
)

func init() {
	gcs.Register()
	s3.Register()
}
