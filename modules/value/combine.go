package value

// Combine merges dicts as hash_behaviour=merge does: keys of high win, keys that
// only one has stay, and dicts under the same key are merged in turn; lists are
// replaced. Neither dict is changed.
func Combine(low, high *Dict) *Dict {
	out := low.Clone()
	for k, v := range high.All() {
		old, _ := out.GetKey(k)
		oldDict, ok1 := old.(*Dict)
		newDict, ok2 := v.(*Dict)
		if ok1 && ok2 {
			v = Combine(oldDict, newDict)
		}
		_ = out.SetKey(k, v) // the key came from a dict
	}
	out.Lazy = out.Lazy || high != nil && high.Lazy
	return out
}
