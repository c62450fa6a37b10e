package job

import "testing"

func TestGuards(t *testing.T) {
	config := validConfig()
	config.Guard = []string{"cluster:2.5", "removes:50"}
	if g, err := config.Guards(); err != nil || g != (Guards{Removes: 50, Cluster: 2.5}) {
		t.Errorf("%+v, %v", g, err)
	}
	for _, item := range []string{
		"", "removes", "removes:", "removes:x", "removes:0", "removes:100", "removes:NaN",
		"pages:5", "cluster:3",
	} {
		config.Guard = []string{"cluster:2.5", item}
		if _, err := config.Guards(); err == nil || config.Validate() == nil {
			t.Errorf("%q is taken for a guard", item)
		}
	}
}
