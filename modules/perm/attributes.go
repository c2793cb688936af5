package perm

import "strings"

// flagNames are the names that Ansible gives to the letters of lsattr.
func flagName(letter rune) (string, bool) {
	name, ok := map[rune]string{
		'A': "noatime", 'a': "append", 'c': "compressed", 'C': "nocow", 'd': "nodump",
		'D': "dirsync", 'e': "extents", 'E': "encrypted", 'h': "blocksize", 'i': "immutable",
		'I': "indexed", 'j': "journalled", 'N': "inline", 's': "zero", 'S': "synchronous",
		't': "notail", 'T': "blockroot", 'u': "undelete", 'X': "compressedraw", 'Z': "compresseddirty",
	}[letter]
	return name, ok
}

// FlagNames spells attribute letters out, leaving out unknown ones.
func FlagNames(letters string) []string {
	var names []string
	for _, l := range letters {
		if name, ok := flagName(l); ok {
			names = append(names, name)
		}
	}
	return names
}

// applyAttributes reads "+i", "-i", "=i" or "i" (the same as "=i").
func (w *Wanted) applyAttributes(path string, check bool, diff *Diff) (bool, error) {
	if w.Attributes == "" {
		return false, nil
	}
	have, _, err := Flags(path)
	if err != nil {
		return false, &Error{Msg: "chattr failed", Path: path, Details: "Error while setting attributes: " + detail(err)}
	}
	op, letters := w.Attributes[0], w.Attributes[1:]
	if !strings.ContainsRune("+-=", rune(op)) {
		op, letters = '=', w.Attributes
	}
	if settled(have, op, letters) {
		return false, nil
	}
	diff.set("attributes", have, string(op)+letters)
	if check {
		return true, nil
	}
	if err := setFlags(path, op, letters); err != nil {
		return false, &Error{Msg: "chattr failed", Path: path, Details: "Error while setting attributes: " + detail(err)}
	}
	return true, nil
}

func settled(have string, op byte, letters string) bool {
	for _, l := range letters {
		if strings.ContainsRune(have, l) == (op == '-') {
			return false
		}
	}
	return op != '=' || len(have) == len(letters)
}
