package perm

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// UserID finds a user by name or by number; a number needs no entry.
func UserID(name string) (int, bool) { return lookup("passwd", name) }

// GroupID finds a group by name or by number; a number needs no entry.
func GroupID(name string) (int, bool) { return lookup("group", name) }

// UserName finds the name of a user id; it is false when there is none.
func UserName(uid int) (string, bool) { return nameOf("passwd", uid) }

// GroupName finds the name of a group id; it is false when there is none.
func GroupName(gid int) (string, bool) { return nameOf("group", gid) }

func lookup(database, name string) (int, bool) {
	if id, err := strconv.Atoi(name); err == nil {
		return id, true
	}
	fields := entry(database, 0, name)
	if len(fields) < 3 {
		return 0, false
	}
	id, err := strconv.Atoi(fields[2])
	return id, err == nil
}

func nameOf(database string, id int) (string, bool) {
	fields := entry(database, 2, strconv.Itoa(id))
	if len(fields) < 3 {
		return "", false
	}
	return fields[0], true
}

// Entry returns a user's passwd fields, or nil.
func Entry(user string) []string { return entry("passwd", 0, user) }

// entry finds the line of a database whose field i is key: in the local file,
// else through getent, which also asks the network's directories.
func entry(database string, i int, key string) []string {
	data, err := os.ReadFile("/etc/" + database)
	if err == nil {
		if fields := scanEntries(string(data), i, key); fields != nil {
			return fields
		}
	}
	if key == "" || strings.HasPrefix(key, "-") || strings.ContainsAny(key, ":\n") || localOnly() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "getent", database, key).Output()
	if err != nil {
		return nil
	}
	return scanEntries(string(out), i, key)
}

func scanEntries(text string, i int, key string) []string {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(fields) > 2 && fields[i] == key {
			return fields
		}
	}
	return nil
}

// localOnly tells whether the name service has no source beside the files, so
// that asking getent is of no use.
func localOnly() bool {
	data, err := os.ReadFile("/etc/nsswitch.conf")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(data)) {
		name, sources, _ := strings.Cut(line, ":")
		if name != "passwd" && name != "group" {
			continue
		}
		for _, s := range strings.Fields(sources) {
			if s != "files" && s != "compat" {
				return false
			}
		}
	}
	return true
}
