// Package argspec turns a module call's arguments into the module's argument
// struct. Flowing in: the struct's tags (read once, by Of) and a dict of
// arguments as a playbook wrote them. Flowing out: the dict of all arguments
// with Ansible's coercions and defaults, the filled struct, and which values
// are secret; or one error with the text that Ansible's modules give. The agent
// calls it for every call; preflight and documentation read its Options. It
// never looks at the file system.
//
// A field is an argument when it has an arg tag:
//
//	Path string `arg:"path,required,aliases=dest|name" doc:"the file to manage"`
//
// The first word is the argument's name; then follow, in any order: required,
// nolog, hidden, aliases=a|b, choices=a|b, default=text, env=NAME, type=name,
// elements=name, applydefaults, removed=WHEN, oldaliases=a@WHEN|b@WHEN. WHEN is a
// version or a date, and may have @ and a collection behind it. A text with a comma stands in single quotes. The type follows
// from the field's Go type where type= is absent. A pointer field stays nil
// when the argument was not given. A struct field (or a list of structs) has
// sub-options. A struct with a method Rules has rules between its arguments.
package argspec

// Option describes one argument.
type Option struct {
	Name     string
	Aliases  []string
	Type     string // str, bool, int, float, list, dict, path, raw, jsonarg, bytes or bits
	Elements string // the type of a list's elements; "": unchecked
	Required bool
	Default  any   // nil: none
	Choices  []any // empty: any value
	NoLog    bool
	Hidden   bool   // not named among the supported parameters (later than the reference's version)
	Env      string // environment variable of the agent that stands in when the argument is absent
	Doc      string // one line
	Options  *Spec  // sub-options of a dict or of a list's dicts; nil: any keys
	// ApplyDefaults gives the sub-options their defaults where the option itself is
	// absent.
	ApplyDefaults bool
	// Removed tells when the option goes away; its zero value: it stays.
	Removed Removal
	// OldAliases are those of Aliases that go away.
	OldAliases []OldAlias

	index []int // the field in the struct, for reflect.Value.FieldByIndex
}

// Removal is a version or a date, of a collection, that lacks an option.
type Removal struct{ Version, Date, Collection string }

// OldAlias is an alias that goes away.
type OldAlias struct {
	Name string
	Removal
}

// Deprecation warns of what goes away, in Ansible's words.
type Deprecation struct {
	Msg string
	Removal
}

// Spec is everything known of a set of arguments.
type Spec struct {
	Options []Option // in the struct's order
	Rules   Rules
}

// Rules relate arguments to each other.
type Rules struct {
	MutuallyExclusive [][]string
	RequiredTogether  [][]string
	RequiredOneOf     [][]string
	RequiredIf        []RequiredIf
	RequiredBy        []RequiredBy
}

// RequiredIf asks for further arguments when one has a certain value.
type RequiredIf struct {
	Name  string
	Value any
	Needs []string
	Any   bool // one of Needs is enough
}

// RequiredBy asks for further arguments when one is given.
type RequiredBy struct {
	Name  string
	Needs []string
}

// Ruled is implemented by argument structs that have rules.
type Ruled interface{ Rules() Rules }

// Env is what coercions take from the agent's surroundings.
type Env struct {
	Home   string                           // for ~
	Getenv func(name string) (string, bool) // for $VAR in paths and for Option.Env; nil: empty
	// UserHome finds another user's home folder, for ~user; nil: unknown.
	UserHome func(user string) (string, bool)
}

// Error is a user's mistake in the arguments, in Ansible's words.
type Error struct {
	Msg string   // the first mistake
	All []string // every one, in Ansible's order
	// Unsupported holds the unknown names ("o.zz" for a sub-option) when that is
	// the mistake, for a caller that suggests near ones.
	Unsupported []string
}

// Error returns the message.
func (e *Error) Error() string { return e.Msg }

// find returns the option of a name or alias, or nil.
func (s *Spec) find(name string) *Option {
	for i := range s.Options {
		o := &s.Options[i]
		if o.Name == name {
			return o
		}
		for _, a := range o.Aliases {
			if a == name {
				return o
			}
		}
	}
	return nil
}

// Find returns the option that an argument name or alias stands for.
func (s *Spec) Find(name string) (Option, bool) {
	if o := s.find(name); o != nil {
		return *o, true
	}
	return Option{}, false
}
