package modules

import (
	"regexp"
	"slices"
)

// randomKeys are the return values that differ from run to run because a key, a
// serial number or a time is new.
func randomKeys() []string {
	return []string{"fingerprint", "fingerprints", "public_key", "public_key_fingerprints", "public_key_data", "public_data", "private_data", "privatekey", "publickey",
		"csr", "certificate", "serial_number", "notBefore", "notAfter", "not_before", "not_after", "subject_key_identifier", "authority_key_identifier", "value"}
}

var pemText = regexp.MustCompile(`-----BEGIN ([A-Z ]+)-----.*?-----END [A-Z ]+-----`)

var bigNumber = regexp.MustCompile(`([:\[,]\s*)(\d{300,})`)

// quoteBig makes texts of numbers that Go's decoder cannot hold.
func quoteBig(data []byte) []byte { return bigNumber.ReplaceAll(data, []byte(`$1"$2"`)) }

// scrubbed replaces what is random in a result by its type.
func scrubbed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if path, ok := item.(string); slices.Contains(randomKeys(), key) && item != nil && !(ok && len(path) > 0 && path[0] == '{') {
				item = typeOf(item)
			}
			v[key] = scrubbed(item)
		}
	case []any:
		for i, item := range v {
			v[i] = scrubbed(item)
		}
	}
	return v
}

func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "TEXT"
	case float64:
		return "NUMBER"
	case map[string]any:
		return "DICT"
	}
	return "OTHER"
}

// scrubbedTree shortens keys and certificates to their types.
func scrubbedTree(tree []string) []string {
	out := make([]string, len(tree))
	for i, line := range tree {
		out[i] = pemText.ReplaceAllString(line, "-----BEGIN $1-----")
	}
	return out
}
