package facts

import (
	"os"
	"strconv"
	"strings"

	"play/modules/value"
)

// user describes the user that the agent runs as.
func user(h *Host) *value.Dict {
	d := value.NewDict()
	for _, line := range h.lines("/etc/passwd") {
		fields := strings.Split(line, ":")
		if len(fields) < 7 || fields[2] != strconv.Itoa(h.UID) {
			continue
		}
		gid, _ := strconv.Atoi(fields[3])
		d = value.DictOf("user_id", fields[0], "user_uid", h.UID, "user_gid", gid, "user_gecos", fields[4],
			"user_dir", fields[5], "user_shell", fields[6])
		break
	}
	if d.Len() == 0 {
		d = value.DictOf("user_id", strconv.Itoa(h.UID), "user_uid", h.UID, "user_gid", h.GID)
	}
	d.Set("real_user_id", os.Getuid())
	d.Set("effective_user_id", os.Geteuid())
	d.Set("real_group_id", os.Getgid())
	d.Set("effective_group_id", os.Getegid())
	return d
}

// environment is the user's environment.
func environment(h *Host) *value.Dict {
	env := value.NewDict()
	for _, entry := range h.Env {
		name, val, _ := strings.Cut(entry, "=")
		env.Set(name, val)
	}
	return value.DictOf("env", env)
}
