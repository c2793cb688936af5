package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"
)

// shownArguments are the settings of a run as "name: value", in the order and
// form in which ansible-playbook tells them with -vvvv. The values of extra
// variables are not among them: they often are passwords.
func (o *options) shownArguments(h *host, c *cli.Context) []string {
	d := &o.Connection
	absolute := func(paths []string) []string {
		out := make([]string, len(paths))
		for i, p := range paths {
			if out[i] = p; !strings.Contains(p, ",") && p != "" {
				out[i] = h.path(filepath.Clean(p))
			}
		}
		return out
	}
	on := func(b bool) string {
		if b {
			return "True"
		}
		return ""
	}
	number := func(n int) string { return strings.TrimPrefix(fmt.Sprint(n), "0") }
	connection := c.String("connection")
	if connection == "" {
		connection = "smart"
	}
	var lines []string
	for _, a := range []struct{ name, value string }{
		{"verbosity", number(o.Verbosity)}, {"private_key_file", absolute([]string{d.KeyFile})[0]},
		{"remote_user", d.User}, {"connection", connection}, {"timeout", number(int(d.Timeout.Seconds()))},
		{"ssh_common_args", c.String("ssh-common-args")}, {"sftp_extra_args", c.String("sftp-extra-args")},
		{"scp_extra_args", c.String("scp-extra-args")}, {"ssh_extra_args", c.String("ssh-extra-args")},
		{"ask_pass", on(c.Bool("ask-pass"))}, {"force_handlers", on(o.ForceHandlers)}, {"flush_cache", on(o.FlushCache)},
		{"become", on(d.Become)}, {"become_method", d.BecomeMethod}, {"become_user", c.String("become-user")},
		{"become_ask_pass", on(c.Bool("ask-become-pass"))}, {"tags", tuple(orAll(o.Tags))}, {"skip_tags", tuple(o.SkipTags)},
		{"check", on(o.Check)}, {"diff", on(o.Diff)}, {"inventory", tuple(absolute(o.Inventory))}, {"subset", o.Limit},
		{"ask_vault_pass", on(o.AskVault)}, {"vault_password_files", tuple(absolute(c.StringSlice("vault-password-file")))},
		{"vault_ids", tuple(c.StringSlice("vault-id"))}, {"forks", number(o.Forks)},
		{"module_path", tuple(absolute(c.StringSlice("module-path")))}, {"step", on(o.Step)}, {"start_at_task", o.StartAt},
	} {
		if a.value != "" {
			lines = append(lines, a.name+": "+a.value)
		}
	}
	return lines
}

// tuple prints texts as Python prints a tuple; "" when there are none.
func tuple(items []string) string {
	if len(items) == 0 {
		return ""
	}
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = "'" + s + "'"
	}
	if len(items) == 1 {
		return "(" + quoted[0] + ",)"
	}
	return "(" + strings.Join(quoted, ", ") + ")"
}
