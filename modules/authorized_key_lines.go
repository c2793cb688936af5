package modules

import (
	"io"
	"slices"
	"strings"
	"time"
)

// keyLine is one line of a file of authorized keys.
type keyLine struct {
	raw     string // of a line that is no key
	options string
	kind    string // "" for a line that is no key
	key     string
	comment string
}

// keyKinds are the kinds of public keys.
func keyKinds() []string {
	return []string{
		"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-dss", "ssh-rsa",
		"ssh-xmss@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com", "sk-ssh-ed25519@openssh.com",
		"ssh-ed25519-cert-v01@openssh.com", "ssh-rsa-cert-v01@openssh.com", "ssh-dss-cert-v01@openssh.com",
		"ecdsa-sha2-nistp256-cert-v01@openssh.com", "ecdsa-sha2-nistp384-cert-v01@openssh.com",
		"ecdsa-sha2-nistp521-cert-v01@openssh.com",
	}
}

// readKeyLine reads "[options] kind key [comment]".
func readKeyLine(line string) (keyLine, bool) {
	first, rest := cutKeyWord(line)
	k := keyLine{}
	if !slices.Contains(keyKinds(), first) {
		k.options = first
		first, rest = cutKeyWord(rest)
	}
	k.kind = first
	k.key, k.comment = cutKeyWord(rest)
	return k, slices.Contains(keyKinds(), k.kind) && k.key != ""
}

// cutKeyWord cuts off the first word; blanks within quotes do not end it.
func cutKeyWord(line string) (word, rest string) {
	line = strings.TrimLeft(line, " \t")
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case (c == ' ' || c == '\t') && !quoted:
			return line[:i], strings.TrimSpace(line[i:])
		}
	}
	return line, ""
}

func readKeyLines(text string) []keyLine {
	var lines []keyLine
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		k, ok := readKeyLine(line)
		if !ok || strings.HasPrefix(strings.TrimSpace(line), "#") {
			k = keyLine{raw: line}
		}
		lines = append(lines, k)
	}
	return lines
}

func renderKeys(lines []keyLine) string {
	var b strings.Builder
	for _, k := range lines {
		if k.kind == "" {
			b.WriteString(k.raw + "\n")
			continue
		}
		words := []string{k.kind, k.key}
		if k.options != "" {
			words = append([]string{k.options}, words...)
		}
		if k.comment != "" {
			words = append(words, k.comment)
		}
		b.WriteString(strings.Join(words, " ") + "\n")
	}
	return b.String()
}

// sameKeyLine compares two lines; the order of options does not count.
func sameKeyLine(a, b keyLine) bool {
	return a.kind == b.kind && a.key == b.key && a.comment == b.comment && slices.Equal(sortedOptions(a.options), sortedOptions(b.options))
}

// sortedOptions cuts options at the commas outside of quotes.
func sortedOptions(text string) []string {
	var options []string
	start, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			options = append(options, text[start:i])
			start = i + 1
		}
	}
	options = append(options, text[start:])
	slices.Sort(options)
	return options
}

// putKeys sets each wanted key, in its place or at the end.
func putKeys(lines, wanted []keyLine, exclusive bool) ([]keyLine, bool) {
	changed := false
	for _, w := range wanted {
		i := slices.IndexFunc(lines, func(k keyLine) bool { return k.kind != "" && k.key == w.key })
		switch {
		case i < 0:
			lines = append(lines, w)
			changed = true
		case !sameKeyLine(lines[i], w):
			lines[i] = w
			changed = true
		}
	}
	if !exclusive {
		return lines, changed
	}
	kept := slices.DeleteFunc(slices.Clone(lines), func(k keyLine) bool {
		return !slices.ContainsFunc(wanted, func(w keyLine) bool { return k.kind != "" && k.key == w.key })
	})
	return kept, changed || len(kept) != len(lines)
}

// dropKeys removes each unwanted key.
func dropKeys(lines, unwanted []keyLine) ([]keyLine, bool) {
	kept := slices.DeleteFunc(slices.Clone(lines), func(k keyLine) bool {
		return slices.ContainsFunc(unwanted, func(w keyLine) bool { return k.kind != "" && k.key == w.key })
	})
	return kept, len(kept) != len(lines)
}

// keyListLimit is the largest list of keys that is read from a URL, in bytes.
const keyListLimit = 8 << 20

// fetchKeys reads a list of keys from a URL.
func (c *Call) fetchKeys(url string, validate bool) (string, error) {
	client := &httpClient{Call: c, redirects: "urllib2", timeout: 30 * time.Second,
		urlArgs: &urlArgs{URL: url, Agent: "ansible-httpget", UseProxy: true, ValidateCerts: validate, Decompress: true, UseNetrc: true}}
	reply, err := client.send("GET", url, nil, time.Time{})
	if err != nil {
		return "", Failf("Error getting key from: %s", url)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, keyListLimit))
	if err != nil || !reply.ok() {
		return "", Failf("Error getting key from: %s", url)
	}
	return string(body), nil
}
