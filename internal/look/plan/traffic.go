package plan

import (
	"math"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/sketchblock"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/match/groups"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/settle/union"
)

// Cut says into how many parts a job is cut.
type Cut struct {
	// Splits is the number of parts of the input, Blocks the number of sketch blocks in them.
	Splits float64 `json:"splits"`
	Blocks float64 `json:"blocks"`
	// Shards is the number of shards of keys, Outputs the number of shards of an output.
	Shards  float64 `json:"shards"`
	Outputs float64 `json:"outputs"`
	// Lanes is the number of tasks that run at a time.
	Lanes float64 `json:"lanes"`
	// RunBytes is how many bytes of its run file a task holds back; 0: all. PlaceBytes bounds the sets that come to one
	// place, at 8 bytes a shingle.
	RunBytes   float64 `json:"run_bytes"`
	PlaceBytes float64 `json:"place_bytes"`
	// CountBytes is how many bytes of shingles a task that counts them may hold.
	CountBytes float64 `json:"count_bytes"`
	// KeyBytes is how many bytes of key records a task may hold.
	KeyBytes float64 `json:"key_bytes"`
}

// Stage says what the tasks of a stage read and write of the temporary files, as summary.json counts it.
type Stage struct {
	Name work.Stage `json:"name"`
	// Tasks counts the tasks that read or write, not the steps that plan them.
	Tasks        float64 `json:"tasks"`
	Pieces       float64 `json:"pieces"`
	ReadBytes    float64 `json:"read_bytes"`
	WrittenBytes float64 `json:"written_bytes"`
}

// Stages returns what each stage of a job with keys of that name reads and writes. It takes documents that belong
// together to be anywhere in the corpus.
func (w *Work) Stages(keys methods.Name) []Stage { return w.traffic(keys).stages }

// traffic adds up the temporary files of a job, stage by stage.
type traffic struct {
	*Work
	keys   methods.Name
	stages []Stage

	documents, sets float64 // bytes of the sketch blocks
	alike           float64 // edges between documents that are not identical
	// Sections of run files that later stages read.
	shingles, frequencies, keyed, ids float64
	placedPairs, placedSets           float64
	// Parts of the similarity graph: the ones that group makes, of the given number of edges, and the ones that score makes.
	starParts, stars, scoredParts float64
	memberTasks, clustered        float64
	partsOfTask, splitsOfTask     float64 // that a task of cluster does
	ranges                        float64 // by which the parts of a graph are joined, 0 for none
	// planned is what the steps between stages write.
	planned float64
	// ahead is the number of pieces that come with others in a bucket, since they are read one after the other.
	ahead float64
}

func (w *Work) traffic(keys methods.Name) *traffic {
	t := &traffic{Work: w, keys: keys, alike: max(w.Edges-w.Identical, 0), ranges: w.joinRanges()}
	t.documents = w.Blocks*sketchblock.HeaderSize + w.Documents*(sketchblock.DocumentSize+w.Kept) + w.IDBytes
	t.sets = w.Shingles * sketchblock.HashSize
	t.fingerprint()
	if w.Ordered > 0 {
		t.spread()
		t.count()
	}
	t.key()
	t.group()
	if keys != methods.SimHash {
		t.gather()
		t.score()
	}
	if w.Drawn > 0 {
		t.audit()
	}
	t.cluster()
	t.write()
	return t
}

func (t *traffic) add(s Stage) { t.stages = append(t.stages, s) }

// inTurn says that a stage reads pieces of the given bytes one after the other, from all splits.
func (t *traffic) inTurn(pieces, bytes float64) {
	splits := max(t.Splits, 1)
	if each := pieces / splits; each > 0 {
		t.ahead += splits * max(each-runfile.Requests(each, bytes/splits), 0)
	}
}

// occupied returns how many of the places get one of the things that fall on them by chance.
func occupied(things, places float64) float64 {
	if places <= 1 {
		return min(things, places)
	}
	return places * (1 - math.Exp(things*math.Log1p(-1/places)))
}

// sections returns how many sections the tasks of a stage write of records that go to a number of shards by chance. Together
// they write the given bytes.
func (t *traffic) sections(tasks, bytes, records, shards float64) float64 {
	times := max(tasks, 1) * t.emptied(bytes/max(tasks, 1))
	return times * occupied(records/times, shards)
}

// emptied returns how often a task that writes the given bytes writes all that it holds back.
func (c *Cut) emptied(bytes float64) float64 {
	if c.RunBytes == 0 {
		return 1
	}
	return math.Floor(bytes/c.RunBytes) + 1
}

func (t *traffic) fingerprint() {
	aside := t.SetAside*sketchblock.HashSize + t.SetAside/max(t.Shingles, 1)*t.Documents*records.SetAsideHeader
	t.add(Stage{Name: work.Fingerprint, Tasks: t.Splits, WrittenBytes: t.documents + t.sets + aside + t.Rejected*rejectRow})
}

// stretches returns the number of records of shingles by range, and of their frequencies.
func (t *traffic) stretches() float64 {
	return t.Splits * methods.Stretches(t.Ordered/max(t.Splits, 1), int64(t.Ordered))
}

func (t *traffic) spread() {
	written := t.Ordered*records.CountedSize + t.stretches()*records.StretchHeader
	t.inTurn(t.Blocks, t.sets)
	tasks := t.Splits / together(t.Splits, t.countTasks(), work.ManyTasks, t.sets)
	t.shingles = t.sections(tasks, written, t.stretches(), t.countTasks())
	t.add(Stage{work.Spread, tasks, t.Blocks, t.sets, written})
}

func (t *traffic) countTasks() float64 {
	return float64(methods.CountTasks(int64(t.Ordered), int64(t.CountBytes)))
}

func (t *traffic) count() {
	tasks := t.countTasks() / together(t.countTasks(), t.Splits, work.ManyTasks, t.written(work.Spread))
	written := t.Ordered + t.stretches()*records.StretchHeader
	t.frequencies = t.sections(tasks, written, t.stretches(), t.Splits)
	t.add(Stage{work.Count, tasks, t.shingles, t.written(work.Spread), written})
}

func (t *traffic) key() {
	s := Stage{work.Key, t.Splits, t.Blocks, t.documents, t.RecordBytes + t.IDs*records.IDSize}
	if t.Ordered > 0 {
		s.Pieces += t.Blocks + t.frequencies
		s.ReadBytes += t.sets + t.written(work.Count)
		t.inTurn(2*t.Blocks, t.documents+t.sets)
	} else if t.sets == 0 {
		t.inTurn(t.Blocks, t.documents)
	}
	s.Tasks /= together(t.Splits, t.Shards, work.ManyTasks, s.ReadBytes)
	t.keyed = t.sections(s.Tasks, s.WrittenBytes, t.Records, t.Shards)
	t.ids = t.sections(s.Tasks, s.WrittenBytes, t.IDs, t.Shards)
	t.add(s)
}

// group reads the key records of a large shard twice or more, to sort them by buckets. Fingerprints it reads once.
func (t *traffic) group() {
	times := 1.
	if t.keys != methods.SimHash && t.RecordBytes/max(t.Shards, 1) > groups.HeldBytes {
		times += math.Ceil(t.Records / max(t.Shards, 1) / float64(groups.RecordsAtATime(int64(t.KeyBytes))))
	}
	s := Stage{
		work.Group, occupied(t.Records+t.IDs, t.Shards), times*t.keyed + t.ids, times*t.RecordBytes + t.IDs*records.IDSize,
		t.Listed*records.NodePairSize + t.nodes()*records.NodeSize + t.Identical*(records.EdgeSize+2*records.NodeSize),
	}
	t.stars = t.Identical
	switch t.keys {
	case methods.All:
		s.WrittenBytes += t.Gathered * records.NodeSize // the distinct documents
	case methods.SimHash:
		s.WrittenBytes += t.alike * (records.EdgeSize + 2*records.NodeSize)
		t.stars = t.Edges
	}
	t.starParts = occupied(t.stars, t.Shards)
	t.add(s)
}

// nodes returns how many nodes the parts of the candidate graph have. A document is a node in each shard in which it has a
// pair, and so in no more shards than it has keys.
func (w *Work) nodes() float64 {
	if w.Gathered == 0 {
		return 0
	}
	return w.Gathered * occupied(min(2*w.Listed/w.Gathered, max(w.Records/max(w.Documents, 1), 1)), w.Shards)
}

// joinRanges returns the number of ranges by which the parts of a graph are joined, 0 for none.
func (w *Work) joinRanges() float64 { return float64(union.RangesOf(int(w.Shards), int64(w.Bytes))) }

// graph is a graph whose parts are joined, and what is written of it then.
type graph struct {
	// Together its parts have a number of nodes.
	parts, nodes, documents float64
	// labelBytes is what a part is told of a node, toldBytes what a split is told of a document.
	labelBytes, toldBytes float64
	// linked is the share of names of trees that are linked; see package union.
	linked float64
}

// join adds the tasks that join the parts of a graph by ranges, if it has any. It returns into how many pieces it is written what parts and
// splits are told.
func (t *traffic) join(s *Stage, g graph) (labels, told float64) {
	written := g.nodes*g.labelBytes + g.documents*g.toldBytes
	if t.ranges == 0 || g.parts == 0 {
		t.planned += written
		return g.parts, occupied(g.documents, t.Splits)
	}
	const (
		passes     = 3   // of the tasks that finish
		linkGrowth = 2.2 // of a node while it is sorted
	)
	bytes := g.nodes * records.OccurrenceSize
	spreading := g.parts / together(g.parts, t.ranges, work.FewTasks, g.nodes*records.NodeSize)
	spread, trees := t.sections(spreading, bytes, g.nodes, t.ranges), t.sections(t.ranges, bytes, g.nodes, t.ranges)
	linking := math.Floor(bytes/t.ranges*linkGrowth/max(t.CountBytes, 1)) + 1 // times that link reads its nodes
	moved := t.sections(t.ranges, g.linked*bytes, g.linked*g.nodes, t.ranges)
	s.Tasks += spreading + 3*t.ranges
	s.Pieces += g.parts + linking*spread + trees + t.ranges + passes*(trees+moved)
	s.ReadBytes += g.nodes*records.NodeSize + (linking+1)*bytes + passes*(1+g.linked)*bytes
	s.WrittenBytes += (2+g.linked)*bytes + written
	return t.sections(t.ranges, g.nodes*g.labelBytes, g.nodes, g.parts), t.sections(t.ranges, g.documents*g.toldBytes, g.documents, t.Splits)
}

func (t *traffic) gather() {
	s := Stage{Name: work.Gather}
	parts := occupied(t.Listed, t.Shards)
	listed := t.Listed * records.NodePairSize
	locations, wanted := t.join(&s, graph{parts, t.nodes(), t.Gathered, records.LocationSize, records.WantedSize, linkedCandidates})
	if parts > 0 {
		read, written := t.nodes()*(records.NodeSize+records.LocationSize)+listed, t.Listed*records.PairSize
		tasks := parts / together(parts, t.places(), work.ManyTasks, read)
		s.Pieces += locations + parts*(1+t.emptied(listed/parts))
		s.ReadBytes, s.WrittenBytes, s.Tasks = s.ReadBytes+read, s.WrittenBytes+written, s.Tasks+tasks
		t.placedPairs = t.sections(tasks, written, t.Listed, t.places())
	}
	// A task reads all documents of a split that has a wanted one, and the sets of the blocks with a wanted one.
	splits, blocks := occupied(t.Gathered, t.Splits), occupied(t.Gathered, t.Blocks)
	share := splits / max(t.Splits, 1)
	s.Pieces += wanted + share*t.Blocks + blocks
	s.ReadBytes += t.Gathered*records.WantedSize + share*t.documents + blocks/max(t.Blocks, 1)*t.sets
	tasks := splits / together(splits, t.places(), work.ManyTasks, share*(t.documents+t.sets))
	s.Tasks += tasks
	if blocks > share*t.Blocks/2 { // who reads most blocks reads them one after the other
		t.inTurn(share*t.Blocks+blocks, share*t.documents+blocks/max(t.Blocks, 1)*t.sets)
	}
	t.placedSets = t.sections(tasks, t.placed(), t.Gathered, t.places())
	s.WrittenBytes += t.placed()
	t.add(s)
}

func (t *traffic) placed() float64 {
	return t.Gathered*records.SetHeader + t.GatheredShingles*sketchblock.HashSize
}

func (t *traffic) places() float64 {
	bytes := t.GatheredShingles * 8
	if t.keys == methods.All {
		bytes *= 2 // a task holds two blocks
	}
	return math.Ceil(bytes / max(t.PlaceBytes, 1))
}

func (t *traffic) score() {
	places := t.places()
	t.scoredParts = min(places, t.alike)
	again := t.Reread / max(t.GatheredShingles, 1) // of all sets
	t.add(Stage{
		work.Score, places, t.placedPairs + t.placedSets*(1+again), t.Listed*records.PairSize + t.placed()*(1+again),
		t.alike*records.EdgeSize + min(2*t.alike, t.Gathered)*records.NodeSize,
	})
}

// audit reads all documents of a small corpus, else those that are set aside. Each document of the sample is a partner
// of its own class.
func (t *traffic) audit() {
	s := Stage{
		Name: work.Audit, Tasks: t.Splits, Pieces: 2 * t.Blocks, ReadBytes: t.documents + t.sets,
		WrittenBytes: t.Drawn * (records.SampledSize + records.ClassHeader + 4),
	}
	if t.Probed < t.Shingles {
		s.ReadBytes = t.SetAside*sketchblock.HashSize + t.SetAside/max(t.Shingles, 1)*t.Documents*records.SetAsideHeader
	}
	t.planned += t.Drawn * (records.SetAsideHeader + t.Shingles/max(t.Documents, 1)*sketchblock.HashSize)
	t.add(s)
}

// cluster sends the edges of each part, and the clustered documents of each split, to the shards of the output.
func (t *traffic) cluster() {
	t.clustered = min(min(2*t.alike, max(t.Gathered, t.alike))+2*t.Identical, t.Documents)
	t.memberTasks = occupied(t.clustered, t.Splits)
	share := t.memberTasks / max(t.Splits, 1)
	parts := t.starParts + t.scoredParts
	t.partsOfTask = together(parts, t.Outputs, work.FewTasks, t.Edges*records.EdgeSize)
	t.splitsOfTask = together(t.memberTasks, t.Outputs, work.FewTasks, share*t.documents)
	if t.sets == 0 {
		t.inTurn(share*t.Blocks, share*t.documents)
	}
	label := float64(records.NodePositionSize)
	if t.ranges > 0 {
		label = records.RangePositionSize
	}
	s := Stage{
		work.Cluster, parts/t.partsOfTask + t.memberTasks/t.splitsOfTask, parts + share*t.Blocks,
		t.clustered*(label+records.MemberSize) + t.Edges*records.EdgeSize + share*t.documents,
		t.Edges*records.EdgeSize + t.clustered*(records.MemberHeader+t.IDBytes/max(t.Documents, 1)),
	}
	positions, members := t.join(&s, graph{parts, t.clustered, t.clustered, label, records.MemberSize, linkedPairs})
	s.Pieces += positions + members
	t.add(s)
}

// together returns how many shards a task does; see [work.Together].
func together(shards, into float64, enough int, bytes float64) float64 {
	return float64(work.Together(int(math.Ceil(shards)), int(math.Ceil(into)), enough, bytes))
}

// write reads the members and edges of each output shard. The shards have the order of the first documents of clusters.
// So the first documents of a split, and the scored edges of a place, go to few of them, and all else to any.
func (t *traffic) write() {
	pieces := t.sections(t.starParts/t.partsOfTask, 0, t.stars, t.Outputs) + t.sections(t.memberTasks/t.splitsOfTask, 0, t.clustered/2, t.Outputs)
	if t.memberTasks > 0 && t.Outputs > 1 {
		pieces += t.memberTasks + t.Outputs // the first documents
	}
	if t.scoredParts > 0 {
		pieces += t.scoredParts + t.Outputs - 1
	}
	pieces += occupied(t.Rejected, t.Blocks)
	t.add(Stage{Name: work.Write, Tasks: t.Outputs, Pieces: pieces, ReadBytes: t.written(work.Cluster) + t.Rejected*rejectRow})
}

func (t *traffic) written(name work.Stage) float64 {
	for i := range t.stages {
		if t.stages[i].Name == name {
			return t.stages[i].WrittenBytes
		}
	}
	return 0
}

// disk returns the most space that the temporary files take: when shingles have been counted, when keys have been
// grouped, when pairs have been scored, or at the end. What nobody reads any more has gone then.
func (t *traffic) disk() float64 {
	blocks := t.written(work.Fingerprint) + t.written(work.Count)
	counted := blocks + t.written(work.Spread)
	grouped := blocks + t.written(work.Key) + t.written(work.Group)
	edges := blocks + t.written(work.Group) + t.written(work.Score) + t.written(work.Audit) + t.planned
	if method, _ := methods.Of(t.keys); method.Crowds == methods.NeverWait {
		edges += t.written(work.Key) // no step sees that they have been grouped
	}
	scored, clustered := edges+t.written(work.Gather), edges-t.sets+t.written(work.Cluster)
	return max(counted, grouped, scored, clustered)
}
