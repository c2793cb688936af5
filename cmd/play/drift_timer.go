package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"play/modules/shellquote"
)

// timerText is a systemd service and timer and a cron line that run the same
// drift command every night.
func timerText(h *host, c *cli.Context) string {
	words := driftWords(h, c)
	systemd := make([]string, len(words))
	for i, w := range words {
		systemd[i] = systemdWord(w)
	}
	return fmt.Sprintf(`# ~/.config/systemd/user/play-drift.service
[Unit]
Description=What has moved away from %[1]s
After=network-online.target
Wants=network-online.target

[Service]
Type=oneshot
WorkingDirectory=%[2]s
ExecStart=%[3]s
# 2 says that there is drift, which is no failure of the service itself
SuccessExitStatus=2

# ~/.config/systemd/user/play-drift.timer
[Unit]
Description=Nightly drift of %[1]s

[Timer]
OnCalendar=*-*-* 02:30:00
RandomizedDelaySec=15min
Persistent=true

[Install]
WantedBy=timers.target

# systemctl --user daemon-reload && systemctl --user enable --now play-drift.timer
# loginctl enable-linger    (so that it runs while you are not logged in)

# or, in crontab -e:
30 2 * * * cd %[4]s && %[5]s
`, strings.ReplaceAll(strings.Join(c.Args().Slice(), ", "), "%", "%%"), strings.ReplaceAll(h.Dir, "%", "%%"), strings.Join(systemd, " "),
		cronText(shellquote.Quote(h.Dir)), cronText(shellquote.Join(words)))
}

// driftWords are the words of the command without --install-timer.
func driftWords(h *host, c *cli.Context) []string {
	self, err := os.Executable()
	if err != nil {
		self = "play"
	}
	words := []string{self, "drift"}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		if name == "install-timer" || !c.IsSet(name) {
			continue
		}
		words = append(words, flagWords(c, name)...)
	}
	for _, p := range c.Args().Slice() {
		words = append(words, filepath.Clean(h.path(p)))
	}
	return words
}

// flagWords are the words that set a flag as it is set.
func flagWords(c *cli.Context, name string) []string {
	switch v := c.Value(name).(type) {
	case bool:
		if name == "verbose" {
			return []string{"-" + strings.Repeat("v", max(1, c.Count(name)))}
		}
		return []string{"--" + name}
	case cli.StringSlice:
		var words []string
		for _, one := range v.Value() {
			words = append(words, "--"+name, one)
		}
		return words
	default:
		return []string{"--" + name, fmt.Sprint(v)}
	}
}

// systemdWord quotes a word for ExecStart.
func systemdWord(word string) string {
	word = strings.NewReplacer("%", "%%", "$", "$$").Replace(word)
	if !strings.ContainsAny(word, " \t\n\"'\\;") {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(word) + `"`
}

// cronText escapes what cron would take for a line end.
func cronText(text string) string { return strings.ReplaceAll(text, "%", `\%`) }
