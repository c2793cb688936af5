package inventory

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// errRange is wrapped by errors about a host range such as web[1:3].
var errRange = errors.New("host range")

// Host names are labels of word characters and dashes that neither start with
// a dash nor end with one; a range in brackets may stand in for any character.
// Addresses of IP version 6 are recognised by shape only.
var (
	bracketedPort = regexp.MustCompile(`^\[(.+)\]:([0-9]+)$`)
	plainPort     = regexp.MustCompile(`^((?:[^:\[\]]|\[[^\]]*\])+):([0-9]+)$`)
	rangeSyntax   = `\[(?:[0-9]*:[0-9]+(?::[0-9]+)?|[a-zA-Z]:[a-zA-Z](?::[0-9]+)?)\]`
	label         = `(?:[\pL\pN_]|` + rangeSyntax + `)(?:(?:[\pL\pN_-]|` + rangeSyntax + `)*(?:[\pL\pN]|` + rangeSyntax + `))?`
	hostSyntax    = regexp.MustCompile(`^` + label + `(?:\.` + label + `)*$`)
	ipv6Syntax    = regexp.MustCompile(`^[0-9a-fA-F]{0,4}(?::(?:[0-9a-fA-F]{0,4}|[0-9.]+|` + rangeSyntax + `))+(?:%[\w.]+)?$`)
)

// parseAddress splits "host", "host:port" or "[host]:port" and checks the
// host's form; the port is 0 when none was given. Ranges are part of the host.
// It is false for text that is no address, such as a pattern.
func parseAddress(text string) (host string, port int, ok bool) {
	host = text
	for _, re := range []*regexp.Regexp{bracketedPort, plainPort} {
		m := re.FindStringSubmatch(host)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return "", 0, false
		}
		host, port = m[1], n
	}
	if hostSyntax.MatchString(host) || strings.Count(host, ":") > 1 && ipv6Syntax.MatchString(host) {
		return host, port, true
	}
	return "", 0, false
}

// expandHosts turns a host entry, which may hold ranges and a port, into host
// names.
func expandHosts(entry string) (names []string, port int, err error) {
	host, port, ok := parseAddress(entry)
	if !ok {
		host = entry
	}
	if strings.HasSuffix(strings.TrimSpace(host), ":") {
		return nil, 0, fmt.Errorf("cannot use host pattern %q: a colon at its end is reserved for a port", entry)
	}
	if host == "---" {
		return nil, 0, errors.New(`cannot use "---" as a host: it is normally the start of a YAML file`)
	}
	names, err = expandRange(host, nil)
	return names, port, err
}

// maxHosts bounds what one entry may expand to.
const maxHosts = 1_000_000

// expandRange appends the names that a pattern with ranges stands for.
func expandRange(pattern string, names []string) ([]string, error) {
	open := strings.IndexByte(pattern, '[')
	if open < 0 {
		return append(names, pattern), nil
	}
	head, rest := pattern[:open], pattern[open+1:]
	closing := strings.IndexByte(rest, ']')
	if closing < 0 {
		return nil, fmt.Errorf("cannot read %w in %q: no closing bracket", errRange, pattern)
	}
	items, err := rangeItems(rest[:closing])
	if err != nil {
		return nil, fmt.Errorf("cannot read %w %q: %s", errRange, pattern[open:open+closing+2], err)
	}
	tails, err := expandRange(rest[closing+1:], nil)
	if err != nil {
		return nil, err
	}
	if len(names)+len(items)*len(tails) > maxHosts {
		return nil, fmt.Errorf("cannot expand %w %q: more than %d hosts", errRange, pattern, maxHosts)
	}
	for _, item := range items {
		for _, tail := range tails {
			names = append(names, head+item+tail)
		}
	}
	return names, nil
}

// rangeItems lists what stands for "begin:end" or "begin:end:step".
func rangeItems(text string) ([]string, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 2 && len(parts) != 3 {
		return nil, errors.New("it must be begin:end or begin:end:step")
	}
	begin, end, step := parts[0], parts[1], 1
	if begin == "" {
		begin = "0"
	}
	if end == "" {
		return nil, errors.New("it must have an end")
	}
	if len(parts) == 3 {
		n, err := rangeNumber(parts[2])
		if err != nil || n == 0 {
			return nil, fmt.Errorf("%q is not a step", parts[2])
		}
		step = n
	}
	if isRangeLetter(begin) && isRangeLetter(end) {
		return letterItems(begin[0], end[0], step)
	}
	return numberItems(begin, end, step)
}

const rangeLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func isRangeLetter(s string) bool { return len(s) == 1 && strings.Contains(rangeLetters, s) }

func letterItems(begin, end byte, step int) ([]string, error) {
	from, to := strings.IndexByte(rangeLetters, begin), strings.IndexByte(rangeLetters, end)
	if from > to {
		return nil, errors.New("begin must not be after end")
	}
	var items []string
	for i := from; step > 0 && i <= to; i += step {
		items = append(items, rangeLetters[i:i+1])
	}
	return items, nil
}

func numberItems(begin, end string, step int) ([]string, error) {
	width := 0
	if len(begin) > 1 && begin[0] == '0' {
		width = len(begin)
		if len(end) != width {
			return nil, errors.New("begin and end must have the same length when begin starts with 0")
		}
	}
	from, err := rangeNumber(begin)
	if err != nil {
		return nil, err
	}
	to, err := rangeNumber(end)
	if err != nil {
		return nil, err
	}
	if count := (to - from) / step; count > maxHosts {
		return nil, fmt.Errorf("more than %d hosts", maxHosts)
	}
	var items []string
	for i := from; step > 0 && i <= to || step < 0 && i > to+1; i += step {
		items = append(items, fmt.Sprintf("%0*d", width, i))
	}
	return items, nil
}

// rangeNumber reads a bound or a step, small enough that counting cannot overflow.
func rangeNumber(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 48)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return int(n), nil
}
