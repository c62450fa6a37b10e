package s3

import (
	"bytes"
	"context"
	"net/url"
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

// Put sends the content by one request. The service compares the sum.
func (s *service) Put(ctx context.Context, put bucket.Put, content []byte) (string, error) {
	client, err := s.connect(ctx)
	if err != nil {
		return "", err
	}
	answer, err := client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:         &put.Bucket,
		Key:            &put.Name,
		RequestPayer:   s.payer,
		Body:           bytes.NewReader(content),
		ContentLength:  aws.Int64(int64(len(content))),
		ChecksumCRC32C: s.sum(put.CRC32C),
		IfNoneMatch:    ifAbsent(put),
		IfMatch:        none(put.IfGeneration),
		Metadata:       map[string]string{tokenKey: put.Token},
	}, s.in(put.Bucket))
	if err != nil {
		return "", s.elsewhere(put.Bucket, err)
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
	client, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	input := &s3.CreateMultipartUploadInput{
		Bucket:       &put.Bucket,
		Key:          &put.Name,
		RequestPayer: s.payer,
		Metadata:     map[string]string{tokenKey: put.Token},
	}
	summed := wanted && s.summed
	if summed {
		input.ChecksumAlgorithm, input.ChecksumType = types.ChecksumAlgorithmCrc32c, types.ChecksumTypeFullObject
	}
	answer, err := client.CreateMultipartUpload(ctx, input, s.in(put.Bucket))
	if err != nil {
		return nil, s.elsewhere(put.Bucket, err)
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
	client, err := s.connect(ctx)
	if err != nil {
		return err
	}
	sum := s.sum(bucket.CRC32C(content))
	answer, err := client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket:         &u.put.Bucket,
		Key:            &u.put.Name,
		RequestPayer:   s.payer,
		UploadId:       u.id,
		PartNumber:     number,
		Body:           bytes.NewReader(content),
		ContentLength:  aws.Int64(int64(len(content))),
		ChecksumCRC32C: sum,
	}, s.in(u.put.Bucket))
	if err != nil {
		return err
	}
	u.parts = append(u.parts, types.CompletedPart{ETag: answer.ETag, PartNumber: number, ChecksumCRC32C: sum})
	return nil
}

func (u *upload) copyPart(ctx context.Context, from bucket.Span) error {
	s, number := u.service, u.next()
	client, err := s.connect(ctx)
	if err != nil {
		return err
	}
	answer, err := client.UploadPartCopy(ctx, &s3.UploadPartCopyInput{
		Bucket:            &u.put.Bucket,
		Key:               &u.put.Name,
		RequestPayer:      s.payer,
		UploadId:          u.id,
		PartNumber:        number,
		CopySource:        source(from.Key),
		CopySourceIfMatch: none(from.Generation),
		CopySourceRange:   aws.String(bucket.Range(from.Offset, from.Length)),
	}, s.in(u.put.Bucket))
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
	s := u.service
	client, err := s.connect(ctx)
	if err != nil {
		return err
	}
	input := &s3.CompleteMultipartUploadInput{
		Bucket:          &u.put.Bucket,
		Key:             &u.put.Name,
		RequestPayer:    s.payer,
		UploadId:        u.id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
		IfNoneMatch:     ifAbsent(u.put),
		IfMatch:         none(u.put.IfGeneration),
		ChecksumCRC32C:  sum,
	}
	if u.summed {
		input.ChecksumType = types.ChecksumTypeFullObject
	}
	_, err = client.CompleteMultipartUpload(ctx, input, s.in(u.put.Bucket))
	return err
}

// Abort drops the parts. Those of a process that died cost money until a rule of the bucket removes them.
func (u *upload) Abort(ctx context.Context) {
	if client, err := u.service.connect(ctx); err == nil {
		_, _ = client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
			Bucket:       &u.put.Bucket,
			Key:          &u.put.Name,
			RequestPayer: u.service.payer,
			UploadId:     u.id,
		}, u.service.in(u.put.Bucket))
	}
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
	client, err := c.service.connect(ctx)
	if err != nil {
		return err
	}
	_, err = client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket:            &c.to.Bucket,
		Key:               &c.to.Name,
		RequestPayer:      c.service.payer,
		CopySource:        source(c.from),
		CopySourceIfMatch: none(c.object.Generation),
	}, c.service.in(c.to.Bucket))
	return c.service.elsewhere(c.to.Bucket, err)
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
