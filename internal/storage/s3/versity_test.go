package s3_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/s3"
	"mirrorbeam.dev/internal/storage/storagetest"
)

// versity starts versitygw, which checks signatures and knows all conditions, behind a proxy. It returns what makes a
// bucket.
func versity(t *testing.T) (proxy *storagetest.Proxy, create func(name string) error) {
	program, err := exec.LookPath("versitygw")
	if err != nil {
		t.Skip("there is no versitygw in PATH; .ci/run buckets installs it")
	}
	address := free(t)
	server := exec.Command(program, "--port", address, "--access", "user", "--secret", "secret", "--region",
		"us-east-1",
		"--quiet", "posix", t.TempDir())
	server.Stderr = t.Output()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	for range 100 {
		var connection net.Conn
		if connection, err = net.Dial("tcp", address); err == nil {
			connection.Close()
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	target := &url.URL{Scheme: "http", Host: address}
	proxy = storagetest.NewProxy(t, &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		// the client went away
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	environment(t, target.String())
	settings, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := awss3.NewFromConfig(settings, func(o *awss3.Options) { o.UsePathStyle = true })
	environment(t, proxy.URL)
	return proxy, func(name string) error {
		_, err := client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: &name})
		return err
	}
}

// free returns an address on which nobody listens.
func free(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// TestVersity is all of the above with a server that has all conditions.
func TestVersity(t *testing.T) {
	proxy, create := versity(t)
	t.Cleanup(storage.Register("s3", s3.New(hasty())))
	t.Run("conform", func(t *testing.T) { storagetest.Conform(t, places(create, hasty())) })
	t.Run("bucket", func(t *testing.T) {
		storagetest.ConformBucket(t, proxy, storagetest.PlainNames, places(create, hasty()))
	})
	for seed := range uint64(3) {
		proxy.Hurt(5, seed)
		t.Run(fmt.Sprint("faults ", seed), func(t *testing.T) { storagetest.Conform(t, places(create, hasty())) })
	}
	t.Run("a copy by parts", func(t *testing.T) { copyByParts(t, places(create, hasty())(t).Folder) })
	proxy.Hurt(0, 0)
	t.Run("a wrong secret", func(t *testing.T) {
		place := places(create, hasty())(t)
		t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
		if _, err := s3.New(hasty()).Stat(storage.Join(place.Folder, "a")); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a wrong secret: %v", err)
		}
	})
}

// copyByParts copies as a file of more than 1 GiB is copied.
func copyByParts(t *testing.T, folder string) {
	store := s3.NewCopying(hasty(), 5<<20)
	from, to := storage.Join(folder, "a b+c"), storage.Join(folder, "copy")
	content := strings.Repeat("0123456789", 1_200_000)
	for range 5 {
		if err := storage.WriteFile(from, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if err := store.Copy(from, to); err != nil {
			t.Fatal(err)
		}
		if got, err := storage.ReadFile(to); err != nil || string(got) != content {
			t.Errorf("the copy has %d bytes, %v", len(got), err)
		}
	}
}
