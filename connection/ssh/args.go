package ssh

import (
	"fmt"
	"slices"
	"strings"
)

// knownOptions are the ssh_config options that are honoured here, or that have
// no bearing on how play connects and are accepted silently (those after the
// empty entry).
var knownOptions = []string{
	"certificatefile", "connecttimeout", "forwardagent", "globalknownhostsfile", "hashknownhosts", "hostkeyalgorithms", "hostkeyalias", "hostname",
	"identitiesonly", "identityagent", "identityfile", "kbdinteractiveauthentication", "passwordauthentication", "port",
	"preferredauthentications", "proxycommand", "proxyjump", "pubkeyauthentication", "serveralivecountmax",
	"serveraliveinterval", "stricthostkeychecking", "user", "userknownhostsfile",
	"",
	"addkeystoagent", "batchmode", "checkhostip", "compression", "connectionattempts", "controlmaster", "controlpath",
	"controlpersist", "escapechar", "forwardx11", "gssapiauthentication", "gssapidelegatecredentials", "loglevel",
	"numberofpasswordprompts", "requesttty", "sendenv", "tcpkeepalive", "updatehostkeys", "visualhostkey",
}

// ParseArgs reads the words of ansible_ssh_common_args and its kin into options
// for a Target, by lower-case ssh_config name; several values of one option are
// separated by line breaks. What cannot be honoured is a *SettingError that
// names it.
func ParseArgs(words []string) (map[string]string, error) {
	options := map[string]string{}
	flags := map[byte]string{'i': "identityfile", 'J': "proxyjump", 'l': "user", 'p': "port"}
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case len(word) < 2 || word[0] != '-':
			return nil, &SettingError{fmt.Sprintf("cannot honour the ssh argument %q: only options are expected", word)}
		case word == "-A":
			setOption(options, "forwardagent", "yes")
			continue
		case slices.Contains([]string{"-C", "-q", "-T", "-x", "-v", "-vv", "-vvv"}, word):
			continue
		}
		name, known := flags[word[1]]
		if word[1] != 'o' && !known {
			return nil, &SettingError{fmt.Sprintf("cannot honour the ssh argument %q: it is not supported", word)}
		}
		value := word[2:]
		if value == "" {
			if i++; i == len(words) {
				return nil, &SettingError{fmt.Sprintf("cannot honour the ssh argument %q: its value is missing", word)}
			}
			value = words[i]
		}
		if word[1] == 'o' {
			var err error
			if name, value, err = splitOption(value); err != nil {
				return nil, err
			}
		}
		setOption(options, name, value)
	}
	return options, nil
}

// splitOption reads "Name=value" or "Name value".
func splitOption(text string) (name, value string, err error) {
	at := strings.IndexAny(text, "= \t")
	if at < 0 {
		return "", "", &SettingError{fmt.Sprintf("cannot honour the ssh option %q: its value is missing", text)}
	}
	name = strings.ToLower(text[:at])
	value = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text[at:]), "="))
	if !slices.Contains(knownOptions, name) {
		return "", "", &SettingError{fmt.Sprintf("cannot honour the ssh option %q: it is not supported", text[:at])}
	}
	return name, strings.Trim(value, `"`), nil
}

// setOption keeps the first value, as ssh does, but all identity and
// certificate files.
func setOption(options map[string]string, name, value string) {
	old, ok := options[name]
	switch {
	case !ok:
		options[name] = value
	case name == "identityfile" || name == "certificatefile":
		options[name] = old + "\n" + value
	}
}
