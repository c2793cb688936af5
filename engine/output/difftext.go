package output

// DiffText is a result's "diff" as a run shows it, without colours: in unified
// form, each diff followed by an empty line, with control characters made
// visible. Binary and very large files are named, not shown. context is the
// number of unchanged lines around a change. It is "" when nothing differs.
func DiffText(diff any, context int) string {
	s := screen{Options: Options{DiffContext: context}}
	return s.diffText(diff)
}
