package lint

import "path/filepath"

// SARIF is findings in the form that code hosts and editors read (2.1.0).
// Paths are written as they were given, with slashes.
func SARIF(found []Finding, version string) map[string]any {
	type object = map[string]any
	rules, results := []any{}, []any{}
	for _, r := range Rules() {
		rules = append(rules, object{"id": r.ID, "shortDescription": object{"text": r.Doc}, "defaultConfiguration": object{"level": string(r.Level)}})
	}
	for _, f := range found {
		text := f.Msg
		if f.Hint != "" {
			text += " (" + f.Hint + ")"
		}
		results = append(results, object{"ruleId": f.Rule, "level": string(f.Level), "message": object{"text": text},
			"locations": []any{object{"physicalLocation": object{"artifactLocation": object{"uri": filepath.ToSlash(f.Pos.File)},
				"region": object{"startLine": max(1, f.Pos.Line), "startColumn": max(1, f.Pos.Col)}}}}})
	}
	return object{"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []any{object{"tool": object{"driver": object{"name": "play lint", "version": version, "rules": rules}}, "columnKind": "unicodeCodePoints", "results": results}}}
}
