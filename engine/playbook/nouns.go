// Package playbook turns the operator's YAML files into plays, blocks, tasks,
// handlers and roles. Flowing in: file paths. Flowing out: an immutable tree in
// which every node knows its place, every templated string is a compiled
// template, and static imports are already in place. It contacts no host,
// evaluates nothing that depends on one, and is read by the iterator and the
// task executor.
package playbook

import (
	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

// Attr is one keyword's value as it was loaded (strings with Jinja are
// *jinja.Template) and the place of that value.
type Attr struct {
	Value any
	Pos   source.Pos
}

// Keywords are the inheritable and run-time keywords of a play, role, block or
// task by name: become, become_user, environment, ignore_errors, no_log,
// check_mode, delegate_to, run_once, throttle, … A keyword that was not
// written is absent. Aliases have been replaced by their main name.
type Keywords map[string]Attr

// Playbook is one playbook file with its import_playbook files put in place.
type Playbook struct {
	Path  string
	Plays []*Play
}

// Play is one play. Its task lists hold *Block and *Task nodes; Roles stands
// between PreTasks and Tasks when it runs.
type Play struct {
	Pos      source.Pos
	Name     any // string or *jinja.Template; nil when not given
	Hosts    any // string, *jinja.Template or *value.List of them
	Keywords Keywords
	Tags     []any
	Vars     *value.Dict // play vars; never nil
	// VarsFiles are the vars_files entries: a string, a template, or a list of
	// alternatives of which the first that exists is used.
	VarsFiles []Attr
	Roles     []*Block // one implicit block per role, dependencies first
	PreTasks  []Node
	Tasks     []Node
	PostTasks []Node
	Handlers  []*Task // each role's, in order, then the play's own
	Dir       string  // the playbook file's folder
	Path      string  // the playbook file
}

// Node is a *Block or a *Task.
type Node interface{ node() }

// Block is a list of nodes with rescue and always parts. Implicit blocks stand
// for the application of a role or of an include and carry its keywords.
type Block struct {
	Pos      source.Pos
	Name     any
	Keywords Keywords
	Vars     *value.Dict // never nil
	When     []*jinja.Cond
	Tags     []any // own tags only: strings or templates
	Body     []Node
	Rescue   []Node
	Always   []Node
	Implicit bool
	Role     *Role       // the role whose files these tasks came from, or nil
	Play     *Play       // the play it belongs to
	Parent   *Block      // nil at the top of a play
	Notify   []Attr      // block-level notify
	Params   *value.Dict // role or include parameters: a higher precedence than Vars; may be nil
	// ParamsFromHost tells that data which a host sent had a part in Params.
	ParamsFromHost bool
	// Once is the same for all applications of a role that does not allow
	// duplicates with the same parameters: a host for which a task of one of
	// them ran skips the others. It is "" for every other block.
	Once string
}

func (*Block) node() {}
func (*Task) node()  {}

// Task is one task or handler.
type Task struct {
	Pos     source.Pos
	Name    any    // string or *jinja.Template; nil when not given
	Action  string // the module or action as resolved, without ansible.builtin. or ansible.legacy.
	Written string // the name as it was written
	// Args are the action's arguments. Free-form text (command, shell, raw,
	// script, meta, include…) stands under "_raw_params", as a string or
	// template. Never nil.
	Args *value.Dict
	// ArgsFrom is a template that yields the whole argument dict
	// (args: "{{ x }}"), or nil.
	ArgsFrom    any
	Keywords    Keywords
	Vars        *value.Dict // never nil
	When        []*jinja.Cond
	ChangedWhen []*jinja.Cond // nil when not given
	FailedWhen  []*jinja.Cond // nil when not given
	Until       []*jinja.Cond // nil when not given
	Loop        *Loop         // nil when not given
	Register    string        // "" when not given
	Notify      []Attr        // each a string, template, or list template
	Listen      []any         // handlers only
	Tags        []any         // own tags only
	Handler     bool
	Role        *Role
	Parent      *Block // nil only for a task that stands directly in a play
	Play        *Play
	// Dir is the folder of the file the task stands in: where include_tasks
	// looks first.
	Dir string
}

// Loop is a task's loop: or with_*: and its loop_control.
type Loop struct {
	Pos      source.Pos
	Lookup   string // "" for loop:, else the lookup plugin of with_<lookup>
	Items    any    // as loaded
	Var      any    // loop_var; nil means "item"
	IndexVar any    // nil: none
	Label    any    // nil: the item itself
	Pause    any    // seconds; nil: none
	Extended any    // nil: false
	// ExtendedAllItems keeps ansible_loop.allitems; nil: true.
	ExtendedAllItems any
	BreakWhen        []*jinja.Cond
}

// Role is a role as found on disk. One Role value serves every application of
// it in a run.
type Role struct {
	Name     string      // as written: "web" or "ns.coll.web"
	Path     string      // its folder
	Defaults *value.Dict // defaults/main.yml; never nil
	Vars     *value.Dict // vars/main.yml; never nil
	// AllowDuplicates is meta's allow_duplicates.
	AllowDuplicates bool
	Collection      string // "ns.coll" for a role of a collection
	// Collections are searched for short names in the role: its own, then those
	// that its meta file names.
	Collections []string
	Parents     []*Role // roles whose dependency or include brought it in; innermost first
	// Dependency is set when the innermost of Parents depends on this role,
	// rather than importing or including it: then it is no "parent role" in
	// ansible_parent_role_names.
	Dependency   bool
	Dependencies []*Block // applications of its dependencies, in order
}

// Own returns the task's own keyword.
func (t *Task) Own(name string) (Attr, bool) { a, ok := t.Keywords[name]; return a, ok }

// Inherit returns the nearest setting of a keyword: the task's own, its
// blocks' from the inside out, then the play's.
func (t *Task) Inherit(name string) (Attr, bool) {
	if a, ok := t.Keywords[name]; ok {
		return a, true
	}
	for b := t.Parent; b != nil; b = b.Parent {
		if a, ok := b.Keywords[name]; ok {
			return a, true
		}
	}
	if t.Play != nil {
		a, ok := t.Play.Keywords[name]
		return a, ok
	}
	return Attr{}, false
}
