package s3

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"mirrorbeam.dev/internal/storage/bucket"
)

// sizes are the sizes of parts. A service refuses more than 10,000 parts, and parts below 5 MiB but the last.
type sizes struct {
	// part is the length in bytes of the first parts of an upload, and step the number of parts after which it doubles.
	part, step int
	// copied is the length of the parts of a copy. A shorter object is copied by one request.
	copied int64
}

// usualSizes let an upload of 8 GB hold 8 MiB in memory, and one of 5 TB 4 GiB. No copied part takes minutes.
var usualSizes = sizes{part: 8 << 20, step: 1000, copied: 1 << 30}

func none(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func ifAbsent(put bucket.Put) *string {
	if put.IfAbsent {
		return aws.String("*")
	}
	return nil
}

// sum is a check sum for a request, nil if sums are not sent.
func (s *service) sum(crc32c uint32) *string {
	if !s.summed {
		return nil
	}
	return encodeSum(crc32c)
}

// demanded is what the policy of a bucket may demand of each request that makes an object: a key of KMS, and an access
// list. A bucket's default encryption needs neither.
func demanded() (by types.ServerSideEncryption, key *string, list types.ObjectCannedACL) {
	if name := os.Getenv("MIRRORBEAM_S3_KMS_KEY"); name != "" {
		by, key = types.ServerSideEncryptionAwsKms, &name
	}
	return by, key, types.ObjectCannedACL(os.Getenv("MIRRORBEAM_S3_ACL"))
}

// Put sends the content by one request. The service compares the sum.
func (s *service) Put(ctx context.Context, put bucket.Put, content []byte) (string, error) {
	if _, err := s.connect(ctx); err != nil { // which finds out whether sums are sent
		return "", err
	}
	input := &s3.PutObjectInput{
		Bucket:         &put.Bucket,
		Key:            &put.Name,
		RequestPayer:   payer(),
		Body:           bytes.NewReader(content),
		ContentLength:  aws.Int64(int64(len(content))),
		ChecksumCRC32C: s.sum(put.CRC32C),
		IfNoneMatch:    ifAbsent(put),
		IfMatch:        none(put.IfGeneration),
		Metadata:       map[string]string{tokenKey: put.Token},
	}
	input.ServerSideEncryption, input.SSEKMSKeyId, input.ACL = demanded()
	answer, err := call(ctx, s, put.Bucket, (*s3.Client).PutObject, input)
	if err != nil {
		return "", err
	}
	return generation(answer.ETag), nil
}

// upload is an upload in parts, of content or of stretches of another object.
type upload struct {
	service *service
	put     bucket.Put
	summed  bool // the service makes a sum of the object
	id      *string
	parts   []types.CompletedPart
}

func (s *service) Begin(ctx context.Context, put bucket.Put) (bucket.Upload, error) {
	u, err := s.begin(ctx, put, true)
	if err != nil {
		return nil, err
	}
	return u, nil
}

// begin begins an upload whose object gets a sum, if sums are sent at all and this one is wanted.
func (s *service) begin(ctx context.Context, put bucket.Put, wanted bool) (*upload, error) {
	if _, err := s.connect(ctx); err != nil {
		return nil, err
	}
	input := &s3.CreateMultipartUploadInput{
		Bucket:       &put.Bucket,
		Key:          &put.Name,
		RequestPayer: payer(),
		Metadata:     map[string]string{tokenKey: put.Token},
	}
	input.ServerSideEncryption, input.SSEKMSKeyId, input.ACL = demanded()
	summed := wanted && s.summed
	if summed {
		input.ChecksumAlgorithm, input.ChecksumType = types.ChecksumAlgorithmCrc32c, types.ChecksumTypeFullObject
	}
	answer, err := call(ctx, s, put.Bucket, (*s3.Client).CreateMultipartUpload, input)
	if err != nil {
		return nil, err
	}
	return &upload{service: s, put: put, summed: summed, id: answer.UploadId}, nil
}

// PartBytes grows with the number of parts, so that there are never too many.
func (u *upload) PartBytes() int {
	sizes := u.service.sizes
	return sizes.part << (len(u.parts) / sizes.step)
}

func (u *upload) next() *int32 { return aws.Int32(int32(len(u.parts) + 1)) }

// Part sends a part. The service compares its sum.
func (u *upload) Part(ctx context.Context, content []byte) error {
	s, number := u.service, u.next()
	sum := s.sum(bucket.CRC32C(content))
	answer, err := call(ctx, s, u.put.Bucket, (*s3.Client).UploadPart, &s3.UploadPartInput{
		Bucket:         &u.put.Bucket,
		Key:            &u.put.Name,
		RequestPayer:   payer(),
		UploadId:       u.id,
		PartNumber:     number,
		Body:           bytes.NewReader(content),
		ContentLength:  aws.Int64(int64(len(content))),
		ChecksumCRC32C: sum,
	})
	if err != nil {
		return err
	}
	u.parts = append(u.parts, types.CompletedPart{ETag: answer.ETag, PartNumber: number, ChecksumCRC32C: sum})
	return nil
}

func (u *upload) copyPart(ctx context.Context, from bucket.Span) error {
	number := u.next()
	answer, err := call(ctx, u.service, u.put.Bucket, (*s3.Client).UploadPartCopy, &s3.UploadPartCopyInput{
		Bucket:            &u.put.Bucket,
		Key:               &u.put.Name,
		RequestPayer:      payer(),
		UploadId:          u.id,
		PartNumber:        number,
		CopySource:        source(from.Key),
		CopySourceIfMatch: none(from.Generation),
		CopySourceRange:   aws.String(bucket.Range(from.Offset, from.Length)),
	})
	if err != nil {
		return err
	}
	part := types.CompletedPart{PartNumber: number}
	if result := answer.CopyPartResult; result != nil {
		part.ETag = result.ETag
	}
	u.parts = append(u.parts, part)
	return nil
}

// Finish makes the object of the parts. The service compares the sum.
func (u *upload) Finish(ctx context.Context, crc32c uint32) error {
	return u.complete(ctx, u.service.sum(crc32c))
}

func (u *upload) complete(ctx context.Context, sum *string) error {
	input := &s3.CompleteMultipartUploadInput{
		Bucket:          &u.put.Bucket,
		Key:             &u.put.Name,
		RequestPayer:    payer(),
		UploadId:        u.id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
		IfNoneMatch:     ifAbsent(u.put),
		IfMatch:         none(u.put.IfGeneration),
		ChecksumCRC32C:  sum,
	}
	if u.summed {
		input.ChecksumType = types.ChecksumTypeFullObject
	}
	_, err := call(ctx, u.service, u.put.Bucket, (*s3.Client).CompleteMultipartUpload, input)
	return err
}

// Abort drops the parts. Those of a process that died cost money until a rule of the bucket removes them.
func (u *upload) Abort(ctx context.Context) {
	_, _ = call(ctx, u.service, u.put.Bucket, (*s3.Client).AbortMultipartUpload, &s3.AbortMultipartUploadInput{
		Bucket:       &u.put.Bucket,
		Key:          &u.put.Name,
		RequestPayer: payer(),
		UploadId:     u.id,
	})
}

// copying is a copy by one request or, of a large object, by parts.
type copying struct {
	service *service
	object  bucket.Object
	from    bucket.Key
	to      bucket.Put
	upload  *upload // nil until a copy by parts has begun
	copied  int64
}

func (s *service) Copy(from bucket.Key, object bucket.Object, to bucket.Put) bucket.Copying {
	return &copying{service: s, object: object, from: from, to: to}
}

func (c *copying) Step(ctx context.Context) (done bool, err error) {
	if c.object.Size <= c.service.sizes.copied {
		return true, c.whole(ctx)
	}
	if c.upload == nil {
		const summed = false // versitygw 1.8 takes the sum of the whole source for the sum of each part
		c.upload, err = c.service.begin(ctx, c.to, summed)
		return false, err
	}
	if c.copied == c.object.Size {
		return true, c.upload.complete(ctx, nil)
	}
	part := bucket.Span{Key: c.from, Generation: c.object.Generation, Offset: c.copied}
	part.Length = min(c.service.sizes.copied, c.object.Size-c.copied)
	if err := c.upload.copyPart(ctx, part); err != nil {
		return false, err
	}
	c.copied += part.Length
	return false, nil
}

func (c *copying) whole(ctx context.Context) error {
	input := &s3.CopyObjectInput{
		Bucket:            &c.to.Bucket,
		Key:               &c.to.Name,
		RequestPayer:      payer(),
		CopySource:        source(c.from),
		CopySourceIfMatch: none(c.object.Generation),
	}
	input.ServerSideEncryption, input.SSEKMSKeyId, input.ACL = demanded()
	_, err := call(ctx, c.service, c.to.Bucket, (*s3.Client).CopyObject, input)
	return err
}

func (c *copying) Abort(ctx context.Context) {
	if c.upload != nil {
		c.upload.Abort(ctx)
	}
}

// source names the object that is copied. A plus sign would be read as a space.
func source(key bucket.Key) *string {
	path := url.PathEscape(key.Bucket + "/" + key.Name)
	return aws.String(strings.NewReplacer("%2F", "/", "+", "%2B").Replace(path))
}
