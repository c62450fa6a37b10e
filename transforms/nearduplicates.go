package transforms

import (
	"crypto/rand"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"

	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/transforms/packing"
)

func init() {
	for _, element := range []reflect.Type{
		reflect.TypeFor[Document](), reflect.TypeFor[Member](), reflect.TypeFor[Pair](), reflect.TypeFor[Span](),
		reflect.TypeFor[Reject](),
	} {
		beam.RegisterType(element)
	}
}

// Document is a document to be compared.
type Document struct {
	// ID is its name: any bytes but none, at most 64 KiB. No two documents have the same.
	ID string
	// Text is what is compared. Bytes that are not UTF-8 count as U+FFFD.
	Text string
}

// Member is a document in a cluster of two or more.
type Member struct {
	ID string
	// Cluster is the id of the first document of the cluster, in the order of ids.
	Cluster string
	// Kept says that the document stays if duplicates are removed. A cluster may keep several, and no pair joins two of
	// these.
	Kept bool
	// Similarity is the similarity to the kept document for which it would be removed, from 0 to 1; 1 for a kept one.
	Similarity float64
	// KeptID is the id of that kept document, empty for a kept one.
	KeptID string
	// Size is the number of documents in the cluster.
	Size int64
}

// Pair is two near-duplicates, A before B in the order of ids: a row of pairs. Documents that are identical under the
// measure are paired with the first of them only, and that one stands for all in other pairs.
type Pair = output.Pair

// Span is a passage that two documents of a [Pair] have in common.
type Span = output.Span

// Reject is a document that was not compared.
type Reject struct {
	ID     string
	Reason string
}

// Options say what [NearDuplicates] looks for, and where it works.
type Options struct {
	// Config holds the settings, as [job.Default] returns them and the user changes them. Temp is required: a folder,
	// on a disk that all workers share or in a bucket, for some 3 bytes for each byte of text. Only settings of the
	// measure count, with Similarity, Excerpt, NoQuotations, Verify, Keep (by order or length), Split, MaxDocument,
	// Memory and Lanes. All others are about files, and must be as they are by default.
	Config job.Config
	// Bytes is about how many bytes of text there are; 0: 1 GiB. It says how finely the work is cut, and changes no
	// result.
	Bytes int64
}

// usualBytes is the text for which the work is cut unless the user knows how much there is.
const usualBytes = 1 << 30

// Found is the result of [NearDuplicates].
type Found struct {
	// Members are the documents in clusters: PCollection<Member>. With containment there are none.
	Members beam.PCollection
	// Pairs are the near-duplicates: PCollection<Pair>.
	Pairs beam.PCollection
	// Rejects are the documents that were not compared: PCollection<Reject>.
	Rejects beam.PCollection

	folder string
}

// Remove removes the temporary files. It is called when the pipeline has ended, well or not.
func (f *Found) Remove() error {
	if err := storage.RemoveFolder(f.folder); err != nil {
		return fmt.Errorf("remove temporary files: %w", err)
	}
	return nil
}

// NearDuplicates finds the near-duplicates among documents, PCollection<Document>, in a pipeline of any runner.
// Document order is the order of ids, byte by byte. So the results depend on the documents and the settings only, and
// they are those of a job whose input has the documents in this order. Of documents with one id, one is compared and
// the others are rejects.
//
// The documents are packed into files at once and cross no shuffle as elements. These files are in a new folder below
// Options.Config.Temp, and the caller removes them with [Found.Remove]. The pipeline is run once.
//
// The documents are compared all together, so their collection must be in the global window: compare one window in a
// pipeline of its own. A job that is submitted and not awaited reads the folder after beam.Run returns; remove it when
// that job has ended.
//
// The error says that the documents are in windows, which options are wrong, or that the folder cannot be made.
func NearDuplicates(s beam.Scope, documents beam.PCollection, options Options) (*Found, error) {
	s = s.Scope("near-duplicates")
	if w, all := documents.WindowingStrategy(), window.DefaultWindowingStrategy(); !reflect.DeepEqual(w, all) {
		return nil, fmt.Errorf("near-duplicates: the documents are in windows (%v), and are compared all together: "+
			"put them into the global window without a trigger", w.Fn)
	}
	config := options.Config
	if err := checkOptions(&config); err != nil {
		return nil, fmt.Errorf("near-duplicates: %s", setting.Text(err, func(name string) string { return name }))
	}
	stopWords, err := config.ReadStopWords()
	if err != nil {
		return nil, fmt.Errorf("near-duplicates: %w", err)
	}
	scheme, err := config.Scheme()
	if err != nil {
		return nil, fmt.Errorf("near-duplicates: %w", err)
	}
	folder, err := newFolder(config.Temp)
	if err != nil {
		return nil, fmt.Errorf("near-duplicates: make the temporary folder: %w", err)
	}
	bytes := options.Bytes
	if bytes <= 0 {
		bytes = usualBytes
	}
	j := NewJob(&config, Extent{Scheme: scheme, Bytes: bytes}).In(folder, folder)
	j.Runs.Release = false // the runner may do a task twice
	splits, rejects := pack(s, j, documents, packing.Listing{
		Inputs:      j.Inputs,
		StopWords:   stopWords,
		MaxDocument: config.MaxDocument,
	})
	members, pairs := unpack(s, j, layOut(s, j, splits))
	return &Found{Members: members, Pairs: pairs, Rejects: rejects, folder: folder}, nil
}

// newFolder makes a folder of its own for a pipeline. Folders in a bucket need not be made.
func newFolder(temp string) (string, error) {
	temp, err := storage.Absolute(temp)
	if err != nil {
		return "", err
	}
	folder := storage.Join(temp, "near-duplicates-"+strings.ToLower(rand.Text()))
	if storage.Scheme(folder) != "" {
		return folder, nil
	}
	return folder, os.MkdirAll(folder, 0o700)
}

func checkOptions(c *job.Config) error {
	if c.Temp == "" {
		return setting.Errorf("{temp}: give a folder for temporary files")
	}
	for _, s := range job.SettingsOf(c) {
		if !s.InPipelines && !s.IsDefault() {
			return setting.Errorf(
				"{" + s.Name + "}: does not apply to the documents of a pipeline: leave it at its default")
		}
	}
	if c.Keep.Basis() > preference.OfText {
		return setting.Errorf("{keep} %s: documents of a pipeline have no fields: give %s", c.Keep,
			preference.Forms(preference.OfText))
	}
	c.Input, c.Output, c.Audit = []string{c.Temp}, c.Temp, "off"
	if c.Emit = []string{output.Clusters, output.Pairs, output.Removed}; !c.Scorer().HasClusters {
		c.Emit = []string{output.Pairs}
	}
	return c.Validate()
}
