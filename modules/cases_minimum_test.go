package modules

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// fewer names the modules that have fewer recorded cases than are asked for, and
// what tests them instead.
func fewer() map[string]string {
	return map[string]string{
		"async_status":       "async_status_test.go: its state is a detached run",
		"docker_compose_v2":  "younger than the collection whose module would record it",
		"docker_image_build": "as docker_compose_v2",
		"docker_image_pull":  "as docker_compose_v2",
		"mysql_db":           "database_test.go: recorded against a real server",
		"mysql_user":         "as mysql_db",
		"postgresql_db":      "as mysql_db",
		"postgresql_ext":     "as mysql_db",
		"postgresql_user":    "as mysql_db",
		"fetch":              "the half of an action; cmd/play's scripts run it whole",
		"script":             "script_test.go: the reference's is an action",
		"setup":              "facts/testdata/compare.py compares value by value with the reference",
		"systemd_service":    "another name of systemd",
		"sysvinit":           "the reference reads /etc/init.d and runs what is there, whatever PATH says: only its refusals can be recorded without harm",
	}
}

// TestEnoughCases holds the least number of recorded cases: five of a module,
// one that finds nothing to do, one in check mode, one that fails.
func TestEnoughCases(t *testing.T) {
	t.Parallel()
	for _, m := range All() {
		if strings.HasPrefix(m.Name, "_") || fewer()[m.Name] != "" {
			continue
		}
		data, err := os.ReadFile("testdata/cases/" + m.Name + ".json")
		if err != nil {
			t.Errorf("%s has no recorded cases: %v", m.Name, err)
			continue
		}
		var set struct {
			Cases []struct {
				Check  bool
				Result map[string]json.RawMessage
			}
		}
		if err := json.Unmarshal(data, &set); err != nil {
			t.Fatal(err)
		}
		same, check, wrong := 0, 0, 0
		for _, c := range set.Cases {
			switch {
			case string(c.Result["failed"]) == "true" || c.Result["crash"] != nil:
				wrong++
			case string(c.Result["changed"]) != "true":
				same++
			}
			if c.Check {
				check++
			}
		}
		if len(set.Cases) < 5 || same == 0 || check == 0 || wrong == 0 {
			t.Errorf("%s has %d cases, %d with nothing to do, %d in check mode, %d that fail: want 5, and one of each",
				m.Name, len(set.Cases), same, check, wrong)
		}
	}
}
