// Package buckets lets the stages open files in buckets and on the web: names that begin with gs://, s3://, https:// or
// hf://. A program that imports transforms and works in a bucket imports this package as well, for its effect:
//
//	import _ "mirrorbeam.dev/buckets"
package buckets

import (
	"mirrorbeam.dev/internal/storage/gcs"
	"mirrorbeam.dev/internal/storage/s3"
	"mirrorbeam.dev/internal/storage/web"
)

func init() {
	gcs.Register()
	s3.Register()
	web.Register()
}
