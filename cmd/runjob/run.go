package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

type runCommand struct {
	job.Config `kong:"-"`
	logging
	configFile
	Async       bool
	Report      bool
	Check       bool
	MetricsFile string `placeholder:"FILE"`
}

func (c *runCommand) BeforeApply(parsed *kong.Context, chosen *chooser) error {
	c.Give(chosen.given(parsed, jobFlags(&c.Config))...)
	return nil
}

type conditionMet struct{ error }

func (c *runCommand) Run(ctx context.Context, out io.Writer) (err error) {
	file, err := toOneFile(&c.Config, job.IsLocal(*runners.Runner) && !c.Async && !c.Report && !forLauncher(), out)
	if err != nil {
		return err
	}
	defer file.end()
	if err := file.checkCopies(ctx, c.Config); err != nil {
		return err
	}
	if c.Check {
		return c.check(ctx)
	}
	var done *finished.Summary
	if c.MetricsFile != "" {
		if err := checkMetricsFile(c.MetricsFile); err != nil {
			return err
		}
		begun := time.Now()
		defer func() {
			err = errors.Join(err, writeMetrics(c.MetricsFile, ending{
				begun:   begun,
				at:      time.Now(),
				code:    endingCode(ctx, err),
				summary: done,
			}))
		}()
	}
	if err := c.checkReport(); err != nil {
		return err
	}
	stdin, remove, err := spoolStdin(ctx, c.Input, c.Reference)
	if err != nil {
		return err
	}
	defer remove()
	c.Stdin, c.Progress, c.Monitor = stdin, c.progress(), c.watcher()
	if c.Async || forLauncher() {
		return c.submit(ctx)
	}
	summary, err := runJob(ctx, c.Config)
	if err == nil {
		err = file.publish(&summary)
	}
	if err != nil {
		return err
	}
	done = &summary
	c.tell(ctx, &summary)
	return errors.Join(c.report(ctx, c.Report, c.Output), conditions(&summary))
}

func (c *runCommand) check(ctx context.Context) error {
	config := c.Config
	config.Runner = *runners.Runner
	if err := c.checkReport(); err != nil {
		return err
	}
	found, err := pipeline.Check(ctx, config)
	if err != nil {
		return err
	}
	c.note("settings and input are in order: about %s of text", size(found.Bytes))
	if config.State != "" {
		c.note("%s new, %s changed, %s removed, %s unchanged: %s", counted(int64(found.Files.New), "file"),
			count(int64(found.Files.Changed)), count(int64(found.Files.Removed)), count(int64(found.Files.Unchanged)),
			found.Plan)
	}
	return nil
}

func conditions(s *finished.Summary) error {
	if met := s.GuardsMet; len(met) > 0 {
		return conditionMet{fmt.Errorf("the results are published, and --guard %s is met", strings.Join(met, ", "))}
	}
	if met := s.Failing(); len(met) > 0 {
		return conditionMet{fmt.Errorf("the results are published, and --fail-on %s is met", strings.Join(met, ", "))}
	}
	return nil
}

func printSummary(w io.Writer, s finished.Summary) {
	n := s.Counts
	say(w, "%s, %s", counted(n.Documents, "document"), size(n.Bytes))
	sayIf(w, n.ReferenceDocuments > 0,
		"; %s in the reference, %s", count(n.ReferenceDocuments), size(n.ReferenceBytes))
	say(w, "; %s rejected", count(n.Rejected))
	sayIf(w, n.Empty > 0, " (%s without a text)", count(n.Empty))
	if isOneFile(s.Config.Output) {
		sayIf(w, n.Rejected > 0, "; a folder as --output has them as rejects")
	} else {
		sayIf(w, n.Rejected > 0, ", see %s", shellName(s.Config.Output)+"/rejects-*")
	}
	sayIf(w, len(s.PassedOver) > 0, "; passed over: %s", passedOver(s))
	sayIf(w, n.InvalidUTF8 > 0, "; %s not valid UTF-8", count(n.InvalidUTF8))
	say(w, "\n")
	printFields(w, &s)
	printFiles(w, s)
	say(w, "plan: %s\n", planText(s))
	if n.IgnoredIn > 0 {
		say(w, "base texts: left out of %s", counted(n.IgnoredIn, "document"))
		sayIf(w, n.IgnoredWhole > 0,
			", %s of which contain nothing else and are only compared for equality", count(n.IgnoredWhole))
		say(w, "\n")
	} else if len(s.Config.Ignore) > 0 {
		say(w, "base texts: no document contains any of them\n")
	}
	printCommon(w, s)
	printTrimmed(w, s.Trimmed)
	if s.Config.Keys == methods.None {
		printChanges(w, s.State, s.Config.Rebuild)
		printCost(w, s)
		return
	}
	printUnmarked(w, s)
	if !s.Config.Scorer().HasClusters {
		say(w, "found %s (%s of identical documents)\n", counted(n.Pairs, "pair"), count(n.Identical))
		printSources(w, s.Sources)
		printChanges(w, s.State, s.Config.Rebuild)
		printCost(w, s)
		return
	}
	sayIf(w, s.Plan.Keys == methods.MinHash && s.Plan.ExpectedRecall < s.Config.Recall,
		"note: with these --bands and --rows that is below --recall %g\n", s.Config.Recall)
	printFound(w, s)
	if a := s.Audit; a != nil {
		say(w, "audit: %s\n", auditText(a))
	}
	printSources(w, s.Sources)
	printChanges(w, s.State, s.Config.Rebuild)
	printMirrors(w, s.Mirrors)
	printCost(w, s)
}

func printFound(w io.Writer, s finished.Summary) {
	n, alike := s.Counts, "identical documents"
	if s.Plan.Keys == methods.SimHash && s.Plan.ExpectedRecall == 1 {
		alike = "equal fingerprints"
	}
	say(w, "found %s (%s of %s): %s in %s",
		counted(n.Pairs, "pair"), count(n.Identical), alike, counted(n.Clustered, "document"),
		counted(n.Clusters, "cluster"))
	if s.Config.TellsRemoved() {
		say(w, "; %s removed", count(n.Removed))
		sayIf(w, n.ReferenceDocuments > 0, " (%s like a reference document)", count(n.RemovedForReference))
		say(w, ", %s kept", count(n.Kept))
	}
	say(w, "\n")
}

func printKept(w io.Writer, s finished.Summary) {
	say(w,
		"nothing has changed in %s since generation %d: the results in %s stay as they are (--republish writes them "+
			"again)\n",
		counted(s.State.Files.Unchanged, "file"), s.State.Generation, s.Config.Output)
	printUnacknowledged(w, s.State)
}

func printUnacknowledged(w io.Writer, s *finished.StateSummary) {
	if text := changesText(s.Unacknowledged); text != "" {
		say(w, "not acknowledged:%s (see 'runjob state acknowledge')\n", strings.TrimPrefix(text, ";"))
	}
}

func printChanges(w io.Writer, s *finished.StateSummary, isRebuilt bool) {
	if s == nil {
		return
	}
	read := counted(s.Files.New+s.Files.Changed, "file")
	if isRebuilt {
		read = "all " + counted(s.Files.New+s.Files.Changed+s.Files.Unchanged, "file")
	}
	say(w, "generation %d: %s read, %s unchanged, %s gone", s.Generation, read, count(s.Files.Unchanged),
		count(s.Files.Removed))
	say(w, "%s\n", changesText(s.Changes))
	sayIf(w, s.Scratch != "", "all documents were compared from scratch: %s\n", s.Scratch)
	printUnacknowledged(w, s)
}

var changed = []struct{ output, name string }{
	{output.Clusters, "cluster"},
	{output.Mirrors, "mirror group"},
	{output.Suspects, "suspect"},
	{output.Protected, "protected site"},
}

func changesText(counts map[string]map[string]int64) string {
	var b strings.Builder
	for _, of := range changed {
		for _, kind := range output.ChangeKindsOf(of.output) {
			if n := counts[of.output][kind]; n > 0 {
				say(&b, "; %s %s", counted(n, of.name), kind)
			}
		}
	}
	return b.String()
}

// printFields tells which fields were chosen for the user, as the flags that name them.
func printFields(w io.Writer, s *finished.Summary) {
	var flags []string
	for _, of := range job.SettingsOf(&s.Config) {
		if !slices.Contains(s.Files.Fields, of.Name) {
			continue
		}
		value := fmt.Sprint(of.Value)
		if of.Name == "weight" {
			fields, _ := s.Config.TextFields()
			value = strings.Join(fields, "=1,") + "=1"
		}
		flags = append(flags, "--"+strings.ReplaceAll(of.Name, "_", "-")+" "+shellName(value))
	}
	sayIf(w, len(flags) > 0, "note: fields by their names and lengths, as none were given: %s\n",
		strings.Join(flags, " "))
}

func passedOver(s finished.Summary) string {
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(s.PassedOver)) {
		reasons = append(reasons, fmt.Sprintf("%s %s", count(s.PassedOver[reason]), reason))
	}
	return strings.Join(reasons, ", ")
}

const shownEndings = 5

func printFiles(w io.Writer, s finished.Summary) {
	n := s.Counts
	if len(s.Files.Rejected) > 0 {
		first := s.Files.Rejected[0]
		say(w, "note: %s could not be read, such as %s: %s\n", counted(n.FilesRejected, "file"), first.File,
			first.Error)
	}
	if len(s.Files.Damaged) > 0 {
		shown := s.Files.Damaged[:min(len(s.Files.Damaged), shownEndings)]
		say(w, "note: %s cut short or damaged, so documents are lost: %s", counted(n.FilesDamaged, "file"),
			strings.Join(shown, ", "))
		if more := n.FilesDamaged - int64(len(shown)); more > 0 {
			say(w, ", and %s more", count(more))
		}
		for _, of := range slices.Sorted(maps.Keys(n.Uncopied)) {
			say(w, "; %s leaves out %s for it", of, counted(n.Uncopied[of], "document"))
		}
		say(w, "; --fail-on damaged-files makes that a failure\n")
	}
	for _, name := range slices.Sorted(maps.Keys(n.GuessedEncodings)) {
		say(w,
			"note: %s read as %s, as guessed from the bytes, such as %s, and copies are in UTF-8: "+
				"if letters are wrong, name it with --encoding\n",
			counted(n.GuessedEncodings[name], "file"), name, s.Files.GuessedEncodings[name])
	}
	if len(s.Files.Unmatched) > 0 {
		say(w,
			"note: no file matches %s of --include and --exclude, which may have *, ?, [a-z] and ** (any folders), "+
				"and are case-sensitive\n", strings.Join(s.Files.Unmatched, ", "))
	}
	if len(n.PassedOver) > 0 {
		printPassedOver(w, n.PassedOver, s.Files.PassedOver)
	}
}

// printPassedOver tells how many files were passed over for each reason, with an example of the most frequent ones.
func printPassedOver(w io.Writer, passed map[string]int64, examples map[string]string) {
	all := int64(0)
	endings := slices.SortedFunc(maps.Keys(passed), func(a, b string) int {
		return cmp.Or(cmp.Compare(passed[b], passed[a]), strings.Compare(a, b))
	})
	var shown []string
	for i, ending := range endings {
		if all += passed[ending]; i < shownEndings {
			shown = append(shown,
				strings.TrimSuffix(fmt.Sprintf("%s %s (%s)", count(passed[ending]), strings.Trim(ending, "()"),
					examples[ending]), " ()"))
		}
	}
	if more := len(endings) - len(shown); more > 0 {
		shown = append(shown, counted(more, "more reason"))
	}
	advice := ""
	if slices.ContainsFunc(endings, func(reason string) bool {
		return reason[0] == '.' || reason == "(none)" || reason == "(other)"
	}) {
		advice = "; a pattern such as 'DIR/*' names files to read"
	}
	for _, ending := range endings {
		if command := converters[ending]; command != "" {
			advice += fmt.Sprintf("; '%s' converts %s", command, ending)
		}
	}
	say(w, "note: %s of the searched folders passed over: %s%s\n", counted(all, "file"), strings.Join(shown, ", "),
		advice)
}

// converters are the commands that make a file that is read of one that is not, by its ending.
var converters = map[string]string{
	".pdf":  "pdftotext FILE FILE.txt",
	".docx": "pandoc -t plain -o FILE.txt FILE",
	".epub": "pandoc -t plain -o FILE.txt FILE",
	".xlsx": "soffice --convert-to csv FILE",
}

func printUnmarked(w io.Writer, s finished.Summary) {
	n := s.Counts
	if n.Unranked > 0 {
		say(w, "note: --keep %s: no %s for %s of %s; copies that have one are preferred\n",
			s.Config.Keep, s.Config.Keep.Lacks(), count(n.Unranked), counted(n.Documents, "document"))
	}
	for i, field := range s.Config.Keep.Fields()[1:] {
		if lacking := n.UnrankedTies[i]; lacking > 0 {
			say(w, "note: --keep %s: no value of %s for %s of %s; copies that have one are preferred\n",
				s.Config.Keep, field, count(lacking), counted(n.Documents, "document"))
		}
	}
	switch {
	case n.Unsited > 0 && n.Unsited == n.Documents:
		say(w,
			"note: --url-field %s: no document has an address, so there are no sites; name the field of the address\n",
			s.Config.URLField)
	case n.Unsited > 0:
		say(w, "note: --url-field %s: no address for %s of %s; they belong to no site\n", s.Config.URLField,
			count(n.Unsited), counted(n.Documents, "document"))
	}
	if n.SitedByPath > 0 {
		say(w,
			"note: sites of %s are folders of their paths: the first folder with the name of a host, "+
				"as bakery.example in crawl/bakery.example/a.html, else the first below --input\n",
			counted(n.SitedByPath, "file"))
	}
	if n.Unscoped > 0 {
		var lacking []string
		if s.Config.Within != "" {
			lacking = append(lacking, fmt.Sprintf("--within %s: no value", s.Config.Within))
		}
		if s.Config.Across != "" {
			lacking = append(lacking, fmt.Sprintf("--across %s: no value", s.Config.Across))
		}
		say(w, "note: %s for %s of %s; the lack of a value counts as a value of its own\n",
			strings.Join(lacking, ", or "), count(n.Unscoped), counted(n.Documents+n.ReferenceDocuments, "document"))
	}
}

func printRequests(w io.Writer, all []finished.Requests) {
	if len(all) == 0 {
		return
	}
	var kinds []string
	var bytes []string
	sum := 0.
	for _, r := range all {
		kinds = append(kinds, r.Kind+" "+count(r.Requests))
		if r.Bytes > 0 {
			done := map[string]string{"read": "read", "write": "written", "fetch": "fetched"}
			bytes = append(bytes, size(r.Bytes)+" "+done[r.Kind])
		}
		sum += r.Dollars
	}
	line := "requests: " + strings.Join(kinds, ", ") + "; " + strings.Join(bytes, ", ")
	if sum > 0 { // servers of the web ask for nothing
		line += "; " + dollars(sum) + " at list prices"
	}
	say(w, "%s\n", line)
}

func printCost(w io.Writer, s finished.Summary) {
	n := s.Counts
	if s.Skipped.Pairs > 0 {
		say(w, "skipped: %s pairs not compared, in %s too large to compare fully, such as one of %s with %s and %s\n",
			count(s.Skipped.Pairs), counted(s.Skipped.Groups, "group"),
			counted(s.Skipped.Example.Documents, "document"), s.Skipped.Example.First, s.Skipped.Example.Second)
		sayIf(w, s.Config.CommonLaw().IsOff() && !s.Config.Scorer().HasClusters,
			"hint: --common auto leaves out what so many documents share, and compares the rest\n")
	}
	if s.Skipped.Kept > 0 {
		say(w, "note: %s of the kept documents were not compared with all others, and may be similar to them\n",
			count(s.Skipped.Kept))
	}
	if s.Skipped.SpreadPages > 0 {
		say(w, "ignored for mirrors: %s on more than %s sites\n",
			counted(s.Skipped.SpreadPages, "page"), count(s.Config.MirrorSites))
	}
	rate := ""
	if bytes := n.Bytes + n.ReferenceBytes; bytes >= 1<<20 && s.CPUSeconds > 0 {
		rate = fmt.Sprintf(" (%.0f MB per CPU-second)", float64(bytes)/1e6/s.CPUSeconds)
	}
	say(w, "%.1f s, %.1f CPU-s%s, %s memory, %s of temporary files\n", s.Seconds, s.CPUSeconds, rate,
		size(s.PeakMemoryBytes), size(s.TempBytes))
	printRequests(w, s.Requests)
	if limit := int64(s.Config.Memory); limit > 0 && s.PeakMemoryBytes > limit {
		largest := slices.MaxFunc(s.Stages, func(a, b finished.Stage) int {
			return cmp.Compare(a.PeakMemoryBytes, b.PeakMemoryBytes)
		})
		say(w, "note: that is more memory than --memory %s; most was in use in stage %s\n",
			size(limit), largest.Name)
	}
	printWarnings(w, s.Warnings)
	written := s.Config.Emit
	if s.State != nil {
		written = append(slices.Clip(written), output.Changes)
	}
	if isOneFile(s.Config.Output) {
		place := shellName(s.Config.Output)
		if s.Config.Output == corpus.Stdin {
			place = "the standard output"
		}
		say(w, "%s in %s\n", strings.Join(written, ", "), place)
		return
	}
	say(w, "results in %s: %s, summary.json\n", shellName(s.Config.Output), strings.Join(written, ", "))
	printNext(w, s, false)
}

func printNext(w io.Writer, s finished.Summary, isRecut bool) {
	if s.Counts.Pairs == 0 || len(s.Config.Emit) == 0 {
		return
	}
	next := "next: " + shellCommand("report", s.Config.Output) + " makes a page of them"
	if slices.Contains(s.Config.Emit, output.Clusters) {
		next += ", " + shellCommand("show", s.Config.Output) + " lists the clusters"
		if !isRecut && !slices.Contains(s.Config.Emit, output.Unique) {
			next += ", --emit unique writes the corpus without the copies"
		}
	}
	say(w, "%s\n", next)
}

func planText(s finished.Summary) string {
	method, _ := methods.Of(s.Plan.Keys)
	return method.Tell(&methods.Told{
		Threshold: s.Config.Threshold,
		Scheme:    s.Plan.Scheme,
		Tables:    s.Plan.Tables,
		Bits:      s.Plan.Bits,
		Distance:  s.Plan.Distance,
		Words:     s.Plan.Words,
		Recall:    s.Plan.ExpectedRecall,
		Skips:     s.Skipped.Groups > 0,
	})
}

func auditText(a *audit.Result) string {
	if a.Pairs == 0 {
		return fmt.Sprintf("%s sampled, and none has a near-duplicate, so the recall is unknown",
			counted(a.Sampled, "document"))
	}
	if a.Low == a.High {
		return fmt.Sprintf(
			"all %s with words were checked: of their pairs %.2f %% are listed, %.2f %% are in one cluster",
			counted(a.Sampled, "document"), 100*a.Listed, 100*a.Recall)
	}
	if a.Wide {
		return fmt.Sprintf(
			"%s of %s sampled show little of the recall: from %.0f to %.0f %% of all pairs are in one cluster (95 %% "+
				"confidence); to know more give --audit %d",
			counted(a.Pairs, "pair"), counted(a.Sampled, "document"), 100*a.Low, 100*a.High,
			10*max(a.Sampled, audit.UsualSample)) // all bounds may then grow tenfold
	}
	return fmt.Sprintf(
		"%s sampled, %s of them with near-duplicates: of their %s %.2f %% are listed (95 %% confidence: "+
			"%.2f to %.2f %%), %.2f %% are in one cluster (%.2f to %.2f %%)",
		counted(a.Sampled, "document"), count(a.Partnered), counted(a.Pairs, "pair"),
		100*a.Listed, 100*a.ListedLow, 100*a.ListedHigh, 100*a.Recall, 100*a.Low, 100*a.High)
}

func counted[N int | int64](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return count(n) + " " + thing
}

func verb(n int64, does string) string {
	if n == 1 {
		does += "s"
	}
	return does
}

func count[N int | int64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func size(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n < 50: // would be less than a tenth of a kilobyte
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1e3)
}

func dollars(sum float64) string {
	if sum < 0.01 {
		return "less than a cent"
	}
	return fmt.Sprintf("$%.2f", sum)
}
