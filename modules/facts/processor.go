package facts

import (
	"runtime"
	"strconv"
	"strings"

	"play/modules/value"
)

// cpuInfo is what /proc/cpuinfo tells, counted.
type cpuInfo struct {
	words      []string // "0", vendor, model, "1"…
	models     int      // lines that name a model or vendor
	processors int      // lines "processor"
	sockets    []string // physical ids, in order
	cores      map[string]int
	siblings   []int // per core id, in order
	coreIDs    map[string]bool
}

func processors(h *Host) *value.Dict {
	c := readCPUInfo(h.lines("/proc/cpuinfo"))
	if c.processors == 0 && len(c.words) == 0 {
		return value.NewDict()
	}
	count := len(c.sockets)
	if count == 0 {
		count = max(c.models, c.processors)
		_, _, _, _, machine := uname()
		if strings.HasPrefix(machine, "arm") || strings.HasPrefix(machine, "aarch") || strings.HasPrefix(machine, "ppc") {
			count = c.processors
		}
	}
	cores, threads := 1, 1
	if len(c.sockets) > 0 && c.cores[c.sockets[0]] > 0 {
		cores = c.cores[c.sockets[0]]
	}
	if len(c.siblings) > 0 && c.siblings[0] > 0 {
		threads = max(c.siblings[0]/cores, 1)
	}
	return value.DictOf("processor", listOf(c.words), "processor_count", count, "processor_cores", cores,
		"processor_threads_per_core", threads, "processor_vcpus", threads*count*cores, "processor_nproc", runtime.NumCPU())
}

func readCPUInfo(lines []string) *cpuInfo {
	c := &cpuInfo{cores: map[string]int{}, coreIDs: map[string]bool{}}
	socket, core := "", ""
	for _, line := range lines {
		key, val, _ := strings.Cut(line, ":")
		key, val = strings.TrimSpace(key), strings.TrimSpace(val)
		n, _ := strconv.Atoi(val)
		switch key {
		case "model name", "Processor", "vendor_id", "cpu", "Vendor":
			c.words = append(c.words, val)
			if key != "vendor_id" && key != "Vendor" {
				c.models++
			}
		case "processor":
			c.words = append(c.words, val)
			c.processors++
		case "physical id":
			socket = val
			if _, seen := c.cores[val]; !seen {
				c.sockets = append(c.sockets, val)
				c.cores[val] = 1
			}
		case "core id":
			core = val
		case "cpu cores":
			c.cores[socket] = n
		case "siblings":
			if !c.coreIDs[core] {
				c.coreIDs[core] = true
				c.siblings = append(c.siblings, n)
			}
		}
	}
	return c
}
