// Package web reads files from web servers and from the hub of Hugging Face. Their names are https://host/folder/file
// and hf://datasets/owner/name/folder/file. It writes nothing.
//
// The environment chooses, so that the workers of a cluster need no flags:
//
//   - NETRC or ~/.netrc has the name and the password for a host. They go to no other host, wherever the host leads.
//   - HF_TOKEN, or the file of the hub's own programs, has the token of the hub; HF_ENDPOINT is the address of another hub.
//   - HTTPS_PROXY and SSL_CERT_FILE are as in other programs.
package web

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
)

// Register makes it the storage of https:// and of hf://. Nothing is connected before the first use.
func Register() {
	storage.Register("https", New(bucket.Usual(), nil))
	storage.Register("hf", NewHub(bucket.Usual(), nil))
}

// New returns the storage of https://, which trusts certificates signed by roots; nil: the system's.
func New(limits bucket.Limits, roots *x509.CertPool) *bucket.Store {
	return bucket.NewReadOnly("https", &servers{newClient(roots)}, limits)
}

// servers are all servers of the web. The bucket of a key is the host, and the name the rest of the address.
type servers struct{ *client }

// secrets are parameters of addresses by which the one who knows them is let in.
var secrets = []string{
	"access_key", "access_token", "api_key", "apikey", "auth", "auth_token", "jwt", "key", "password", "private_token",
	"pwd", "secret", "sig", "signature",
	"token", "x-amz-security-token", "x-amz-signature", "x-goog-signature",
}

// address returns the address of a file. Names stand in results and messages, so an address with a secret is refused.
func address(key bucket.Key) (string, error) {
	_, query, _ := strings.Cut(key.Name, "?")
	values, _ := url.ParseQuery(query)
	for parameter := range values {
		if slices.Contains(secrets, strings.ToLower(parameter)) {
			return "", bucket.SecretError(
				fmt.Sprintf(
					"the address has a secret (%s), and file names are in all results: "+
						"download the file and name the copy, or name it as gs:// or s3://", parameter))
		}
	}
	if strings.Contains(key.Bucket, "@") {
		return "", bucket.SecretError(
			"the address has a name or a password, and file names are in all results: put them into ~/.netrc")
	}
	return "https://" + key.Bucket + "/" + key.Name, nil
}

// List fails: HTTP has no lists.
func (s *servers) List(context.Context, bucket.Key, string) ([]bucket.Object, string, error) {
	return nil, "", errors.New(
		"no file has this address, and a server of the web lists no folders: check the address, " +
			"name each of the files, or download the folder (wget -r -np) and name that")
}

// Stat reads the first byte: not every server answers other questions about a file, and ranges are needed later.
func (s *servers) Stat(ctx context.Context, key bucket.Key) (bucket.Object, error) {
	at, err := address(key)
	if err != nil {
		return bucket.Object{}, err
	}
	got, err := s.get(ctx, at, 0, 1)
	if refused, is := errors.AsType[*refusal](err); is && refused.status == http.StatusRequestedRangeNotSatisfiable {
		return bucket.Object{Name: key.Name}, nil // it has no first byte
	}
	if err != nil {
		return bucket.Object{}, err
	}
	defer drop(got.Response)
	body, err := got.stretch()
	switch {
	case err != nil:
		return bucket.Object{}, err
	case body.Size < 0:
		return bucket.Object{}, errors.New(
			"the server does not report the length of the file: download the file (curl -O) and name the copy")
	case got.StatusCode != http.StatusPartialContent && body.Size > 0:
		return bucket.Object{}, errors.New(
			"the server reads no ranges of files: download the file (curl -O) and name the copy")
	}
	return bucket.Object{Name: key.Name, Size: body.Size, Generation: generation(got.Header)}, nil
}

// generation returns what identifies the content of a file: the etag or, without one, the time of its last change.
func generation(header http.Header) string {
	if etag := header.Get("Etag"); etag != "" {
		return etag
	}
	return header.Get("Last-Modified")
}

func (s *servers) Read(ctx context.Context, span bucket.Span) (bucket.Body, error) {
	at, err := address(span.Key)
	if err != nil {
		return bucket.Body{}, err
	}
	got, err := s.get(ctx, at, span.Offset, span.Length)
	if err != nil {
		return bucket.Body{}, err
	}
	body, err := got.stretch()
	body.Generation = generation(got.Header)
	return body, err
}

// Judge says where tokens are put.
func (s *servers) Judge(err error) bucket.Meaning {
	meaning := s.client.Judge(err)
	if meaning.Status == http.StatusUnauthorized || meaning.Status == http.StatusForbidden {
		meaning.Advice = "put the name and the password for this host into ~/.netrc, or download the file"
	}
	return meaning
}
