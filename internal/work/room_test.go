package work

import (
	"testing"
	"testing/fstest"
)

// TestRoom: the least limit counts, of both versions of control groups, wherever the container sees its group.
func TestRoom(t *testing.T) {
	const machine, none = "MemTotal:       16777216 kB\nMemFree: 1 kB\n", "9223372036854771712\n"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing is known", nil, 0},
		{"a machine without groups", map[string]string{"proc/meminfo": machine}, 12 << 30},
		{"a container of version 2, which sees its group at the top", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "4294967296\n",
		}, 3 << 30},
		{"version 2 without a limit", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n",
		}, 12 << 30},
		{"a service below a slice with less", map[string]string{
			"proc/meminfo":                                      machine,
			"proc/self/cgroup":                                  "0::/batch.slice/pool.service\n",
			"sys/fs/cgroup/batch.slice/memory.max":              "2147483648\n",
			"sys/fs/cgroup/batch.slice/pool.service/memory.max": "4294967296\n",
		}, 3 << 29},
		{"a container of version 1 that knows the path of the host", map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "5:cpuset:/docker/1\n4:memory:/docker/1\n0::/docker/1\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
		}, 3 << 28},
		{"version 1 without a limit", map[string]string{
			"proc/meminfo":     machine,
			"proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": none,
		}, 12 << 30},
		{"a controller that shares its tree", map[string]string{
			"proc/self/cgroup": "4:cpu,memory:/a\n", "sys/fs/cgroup/cpu,memory/a/memory.limit_in_bytes": "4096\n",
		}, 3072},
		{"a file that is no number", map[string]string{
			"proc/meminfo": "MemTotal:\n", "proc/self/cgroup": "\n0\n0::/../..\n", "sys/fs/cgroup/memory.max": "many\n",
		}, 0},
	} {
		root := fstest.MapFS{}
		for name, content := range test.files {
			root[name] = &fstest.MapFile{Data: []byte(content)}
		}
		if got := Room(root); got != test.want {
			t.Errorf("%s: %d bytes, want %d", test.name, got, test.want)
		}
	}
}
