package web

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"

	"mirrorbeam.dev/internal/storage/bucket"
)

func hubAddress() *url.URL {
	const usual = "https://huggingface.co"
	at, err := url.Parse(strings.TrimRight(cmp.Or(os.Getenv("HF_ENDPOINT"), usual), "/"))
	if err != nil || at.Host == "" {
		at, _ = url.Parse(usual)
	}
	return at
}

// NewHub returns the storage of hf://, as [New] does of https://.
func NewHub(limits bucket.Limits, roots *x509.CertPool) *bucket.Store {
	return bucket.NewReadOnly("hf", &hub{client: newClient(roots), commits: map[[2]string]string{}}, limits)
}

// hub is the hub of Hugging Face. The bucket of a key is the kind of a repository.
type hub struct {
	*client

	mutex   sync.Mutex
	commits map[[2]string]string // by dataset and revision: what a revision was when it was met first it stays
}

// place is where a file or a folder is on the hub.
type place struct {
	dataset  string // owner/name
	revision string
	path     string // in the dataset, without slashes around it; empty for all of it
	stem     string // what the names of all files of the dataset begin with
}

// reference matches revisions that have slashes themselves, with the path behind them.
var reference = regexp.MustCompile(`^(refs/(?:convert|pr)/[^/]+)(?:/(.*))?$`)

func (h *hub) place(key bucket.Key) (place, error) {
	owner, rest, _ := strings.Cut(key.Name, "/")
	name, inner, _ := strings.Cut(rest, "/")
	name, revision, isRevised := strings.Cut(name, "@")
	if key.Bucket != "datasets" || owner == "" || name == "" || isRevised && revision == "" {
		return place{}, errors.New(
			"this is no dataset of the hub: want hf://datasets/owner/name/path or " +
				"hf://datasets/owner/name@revision/path")
	}
	p := place{dataset: owner + "/" + name, revision: cmp.Or(revision, "main")}
	if parts := reference.FindStringSubmatch(revision + "/" + inner); parts != nil {
		p.revision, inner = parts[1], parts[2]
	} else if revision == "~parquet" {
		p.revision = "refs/convert/parquet"
	} else if decoded, err := url.PathUnescape(p.revision); err == nil {
		p.revision = decoded
	}
	p.stem = strings.TrimSuffix(key.Name, inner)
	p.path = strings.Trim(inner, "/")
	return p, nil
}

// in returns the address of a dataset's item on the hub. Parts have no slash of their own, except in a path.
func in(prefix, dataset, what, revision, inner string) string {
	address := hubAddress().JoinPath(prefix, "datasets").String() + "/" + dataset + "/" + what + "/" +
		url.PathEscape(revision)
	for part := range strings.SplitSeq(inner, "/") {
		if part != "" {
			address += "/" + url.PathEscape(part)
		}
	}
	return address
}

// ask decodes what the hub says at an address, and returns the header of its answer.
func (h *hub) ask(ctx context.Context, address string, into any) (http.Header, error) {
	got, err := h.get(ctx, address, 0, 0)
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	if err := json.NewDecoder(bucket.Bound(got.Response).Body).Decode(into); err != nil {
		return nil, fmt.Errorf("the answer is none of the hub (%w): check HF_ENDPOINT", err)
	}
	return got.Header, nil
}

var isCommit = regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString

// commit returns the commit that a revision is for this process.
func (h *hub) commit(ctx context.Context, p place) (string, error) {
	if isCommit(p.revision) {
		return p.revision, nil
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	key := [2]string{p.dataset, p.revision}
	if known := h.commits[key]; known != "" {
		return known, nil
	}
	var found struct{ SHA string }
	if _, err := h.ask(ctx, in("api", p.dataset, "revision", p.revision, ""), &found); err != nil {
		return "", err
	}
	if !isCommit(found.SHA) {
		return "", errors.New("the hub does not report the commit of the revision: check HF_ENDPOINT")
	}
	h.commits[key] = found.SHA
	return found.SHA, nil
}

type item struct {
	Type string // file or directory
	OID  string // hash of the content as git makes it
	Size int64
	Path string
	LFS  *struct{ OID string } // hash of the content, if git does not keep it
}

// object describes a file. Its generation is the hash of its content.
func (i item) object(name string) bucket.Object {
	object := bucket.Object{Name: name, Size: i.Size, Generation: i.OID}
	if i.LFS != nil {
		object.Generation = i.LFS.OID
	}
	return object
}

func (h *hub) List(ctx context.Context, prefix bucket.Key,
	mark string,
) (objects []bucket.Object, next string, err error) {
	p, err := h.place(prefix)
	if err != nil {
		return nil, "", err
	}
	page, next, err := h.tree(ctx, p, p.path, mark, true)
	for _, found := range page {
		if found.Type == "file" {
			objects = append(objects, found.object(p.stem+found.Path))
		}
	}
	return objects, next, err
}

// tree returns a page of what is in a folder, and the mark of the next one. A folder that is not there is empty.
func (h *hub) tree(ctx context.Context, p place, folder, mark string,
	isDeep bool,
) (page []item, next string, err error) {
	commit, err := h.commit(ctx, p)
	if err != nil {
		return nil, "", err
	}
	query := url.Values{"recursive": {fmt.Sprint(isDeep)}, "expand": {"false"}}
	if mark != "" {
		query.Set("cursor", mark)
	}
	header, err := h.ask(ctx, in("api", p.dataset, "tree", commit, folder)+"?"+query.Encode(), &page)
	if refused, is := errors.AsType[*refusal](err); is && refused.status == http.StatusNotFound {
		return nil, "", nil // the commit is known, so the folder is missing
	}
	if err != nil {
		return nil, "", err
	}
	for _, link := range header.Values("Link") {
		if address, isNext := strings.CutSuffix(strings.TrimSpace(link), `>; rel="next"`); isNext {
			if parsed, err := url.Parse(strings.TrimPrefix(address, "<")); err == nil {
				next = parsed.Query().Get("cursor")
			}
		}
	}
	return page, next, nil
}

// Stat looks a file up in the list of its folder.
func (h *hub) Stat(ctx context.Context, key bucket.Key) (bucket.Object, error) {
	p, err := h.place(key)
	if err != nil {
		return bucket.Object{}, err
	}
	folder, _ := path.Split(p.path)
	for mark, more := "", p.path != ""; more; more = mark != "" {
		var page []item
		if page, mark, err = h.tree(ctx, p, folder, mark, false); err != nil {
			return bucket.Object{}, err
		}
		for _, found := range page {
			if found.Path == p.path && found.Type == "file" {
				return found.object(key.Name), nil
			}
		}
	}
	return bucket.Object{}, &refusal{status: http.StatusNotFound, text: "the dataset has no file of this name"}
}

// Read reads a stretch of a file of the commit. The hub leads to where the content is.
func (h *hub) Read(ctx context.Context, span bucket.Span) (bucket.Body, error) {
	p, err := h.place(span.Key)
	if err != nil {
		return bucket.Body{}, err
	}
	commit, err := h.commit(ctx, p)
	if err != nil {
		return bucket.Body{}, err
	}
	got, err := h.get(ctx, in("", p.dataset, "resolve", commit, p.path), span.Offset, span.Length)
	if err != nil {
		return bucket.Body{}, err
	}
	body, err := got.stretch()
	body.Generation = strings.Trim(strings.TrimPrefix(cmp.Or(got.own.Get(linkedEtag), got.own.Get("Etag")), "W/"), `"`)
	if len(body.Generation) != len(span.Generation) {
		body.Generation = span.Generation // this is no hash of the content, and a commit never changes
	}
	return body, err
}

// Judge says where the token of the hub is.
func (h *hub) Judge(err error) bucket.Meaning {
	meaning := h.client.Judge(err)
	if meaning.Status == http.StatusUnauthorized || meaning.Status == http.StatusForbidden {
		meaning.Advice = "check the name; for a private dataset set HF_TOKEN, " +
			"and for a gated one accept its conditions on its page first"
	}
	return meaning
}
