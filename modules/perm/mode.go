package perm

import (
	"errors"
	"strconv"
	"strings"
)

// Resolve computes the mode bits that a task's mode means for a file: an int
// is the bits themselves, a string is octal digits or a symbolic mode.
func Resolve(mode any, st Stat, umask uint32) (uint32, error) {
	switch m := mode.(type) {
	case int:
		return uint32(m) & 0o7777, nil
	case string:
		if n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimPrefix(m, "0o"), "0O"), 8, 32); err == nil {
			return uint32(n) & 0o7777, nil
		}
		return symbolic(m, st, umask)
	}
	return 0, errors.New("mode is neither a number nor a string")
}

// symbolic applies clauses such as "u=rwX,g+s,o-" one after the other.
func symbolic(text string, st Stat, umask uint32) (uint32, error) {
	mode := st.Mode
	for _, clause := range strings.Split(text, ",") {
		i := strings.IndexAny(clause, "+-=")
		if i < 0 {
			return 0, badMode(clause)
		}
		who, masked := clause[:i], uint32(0)
		if who == "" {
			masked = umask
		}
		if who == "" || who == "a" {
			who = "ugo"
		}
		if strings.Trim(who, "ugo") != "" {
			return 0, badMode(clause)
		}
		next, err := operations(clause, clause[i:], who, masked, mode, st)
		if err != nil {
			return 0, err
		}
		mode = next
	}
	return mode, nil
}

func badMode(clause string) error {
	return errors.New("bad symbolic permission for mode: " + clause)
}

// operations applies the "+rw-x" part of one clause.
func operations(clause, ops, who string, masked, mode uint32, st Stat) (uint32, error) {
	for ops != "" {
		op := ops[0]
		perms := ops[1:]
		if i := strings.IndexAny(perms, "+-="); i >= 0 {
			perms = perms[:i]
		}
		ops = ops[1+len(perms):]
		if strings.Trim(perms, "rwxXstugo") != "" {
			return 0, badMode(clause)
		}
		for _, user := range who {
			bits := permBits(user, perms, st.Mode, st.Dir) &^ masked
			switch op {
			case '+':
				mode |= bits
			case '-':
				mode &^= bits
			case '=':
				mode = mode&^allOf(user) | bits
			}
		}
	}
	return mode, nil
}

// allOf is every bit that "=" replaces for a user class.
func allOf(user rune) uint32 {
	switch user {
	case 'u':
		return 0o4700
	case 'g':
		return 0o2070
	}
	return 0o1007
}

func shiftOf(user rune) uint {
	return map[rune]uint{'u': 6, 'g': 3, 'o': 0}[user]
}

// permBits are the bits that letters mean for a user class; X and the letters
// that copy look at the mode before the change.
func permBits(user rune, perms string, mode uint32, dir bool) uint32 {
	shift := shiftOf(user)
	var bits uint32
	for _, p := range perms {
		switch p {
		case 'r':
			bits |= 4 << shift
		case 'w':
			bits |= 2 << shift
		case 'x':
			bits |= 1 << shift
		case 'X':
			if dir || mode&0o111 != 0 {
				bits |= 1 << shift
			}
		case 's':
			bits |= map[rune]uint32{'u': 0o4000, 'g': 0o2000}[user]
		case 't':
			if user == 'o' {
				bits |= 0o1000
			}
		case 'u', 'g', 'o':
			bits |= mode >> shiftOf(p) & 7 << shift
		}
	}
	return bits
}
