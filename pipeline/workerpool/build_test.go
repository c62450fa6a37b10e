package workerpool

import (
	"testing"

	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/protobuf/proto"
)

// TestCheckBuild: a pool refuses jobs of other builds, if the builds are known.
func TestCheckBuild(t *testing.T) {
	for _, c := range []struct {
		job, pool string
		refused   bool
	}{{"a", "a", false}, {"a", "b", true}, {"", "b", false}, {"a", "", false}} {
		if err := checkBuild(c.job, c.pool); (err != nil) != c.refused {
			t.Errorf("a job of build %q for a pool of build %q: %v", c.job, c.pool, err)
		}
	}
}

// TestMark keeps the address of the pool.
func TestMark(t *testing.T) {
	payload, err := proto.Marshal(&pipepb.ExternalPayload{Endpoint: &pipepb.ApiServiceDescriptor{Url: "pool:50000"}})
	if err != nil {
		t.Fatal(err)
	}
	environment := &pipepb.Environment{Payload: payload}
	var marked pipepb.ExternalPayload
	if err := Mark(environment); err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(environment.GetPayload(), &marked); err != nil {
		t.Fatal(err)
	}
	if _, is := marked.GetParams()[buildParameter]; !is || marked.GetEndpoint().GetUrl() != "pool:50000" {
		t.Errorf("marked: %v", &marked)
	}
}
