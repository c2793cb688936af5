package jinja

import (
	"errors"
	"math/big"

	"play/modules/value"
)

// setFilters treat lists as sets, and combine lists with each other.
func setFilters() []Builtin {
	return []Builtin{
		{Name: "combinations", Params: "set_size", Doc: "every selection of so many items", Fn: filterCombinations},
		{Name: "difference", Params: "b", Doc: "the items that are not in the other list", Fn: setFilter(difference)},
		{Name: "flatten", Params: "levels=None, skip_nulls=True", Doc: "a list without lists in it", Fn: filterFlatten},
		{Name: "intersect", Params: "b", Doc: "the items that are in both lists", Fn: setFilter(intersection)},
		{Name: "permutations", Params: "set_size=None", Doc: "every order of so many items", Fn: filterPermutations},
		{Name: "product", Params: "*iterables, repeat=1", Doc: "every combination of one item of each list", Fn: filterProduct},
		{Name: "symmetric_difference", Params: "b", Doc: "the items that are in one list only", Fn: setFilter(symmetricDifference)},
		{Name: "union", Params: "b", Doc: "the items that are in any of the lists", Fn: setFilter(union)},
		{Name: "unique", Params: "case_sensitive=None, attribute=None", Doc: "every item once", Fn: filterUnique},
		{Name: "zip", Params: "*iterables", Doc: "the first items together, the second ones, and so on", Fn: filterZip},
		{Name: "zip_longest", Params: "*iterables, fillvalue=None", Doc: "as zip, as long as the longest list", Fn: filterZipLongest},
	}
}

// itemSet finds items fast when they are hashable and one by one otherwise.
type itemSet struct {
	hashed value.Dict
	rest   []any
}

func newItemSet(items []any) *itemSet {
	s := &itemSet{}
	for _, item := range items {
		s.add(item)
	}
	return s
}

func (s *itemSet) add(item any) {
	if err := s.hashed.SetKey(item, true); err != nil {
		s.rest = append(s.rest, item)
	}
}

func (s *itemSet) has(item any) bool {
	if _, ok := s.hashed.GetKey(item); ok {
		return true
	}
	for _, other := range s.rest {
		if value.Equal(item, other) {
			return true
		}
	}
	return false
}

// uniqueItems keeps the first of equal items.
func uniqueItems(items []any) []any {
	seen := &itemSet{}
	out := make([]any, 0, len(items))
	for _, item := range items {
		if !seen.has(item) {
			seen.add(item)
			out = append(out, item)
		}
	}
	return out
}

// without returns the items of a that are not in b.
func without(a, b []any) []any {
	other := newItemSet(b)
	var out []any
	for _, item := range a {
		if !other.has(item) {
			out = append(out, item)
		}
	}
	return out
}

func difference(a, b []any) []any { return uniqueItems(without(a, b)) }

func intersection(a, b []any) []any {
	other := newItemSet(b)
	var both []any
	for _, item := range a {
		if other.has(item) {
			both = append(both, item)
		}
	}
	return uniqueItems(both)
}

func union(a, b []any) []any { return uniqueItems(concat(a, b)) }

func symmetricDifference(a, b []any) []any {
	return without(union(a, b), intersection(a, b))
}

func setFilter(f func(a, b []any) []any) func(*Call) (any, error) {
	return func(c *Call) (any, error) {
		a, err := iterate(c.Value)
		if err != nil {
			return nil, err
		}
		b, err := iterate(c.Args[0])
		if err != nil {
			return nil, err
		}
		return value.NewList(f(a, b)...), nil
	}
}

func filterFlatten(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	levels, err := optInt(c.Args[0], -1)
	if err != nil {
		return nil, err
	}
	out, err := flattened(items, levels, value.Truth(c.Args[1]))
	if err != nil {
		return nil, err
	}
	return value.NewList(out...), nil
}

func filterUnique(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	rows, err := withKeys(items, attrGetter(c.Args[1], nil), value.Truth(c.Args[0]))
	if err != nil {
		return nil, err
	}
	var seen value.Dict
	out := value.NewList()
	for _, r := range rows {
		if _, ok := seen.GetKey(r.key); ok {
			continue
		}
		if err := seen.SetKey(r.key, true); err != nil {
			return uniqueFallback(c, items)
		}
		out.Append(r.item)
	}
	return out, nil
}

// uniqueFallback compares whole items, for those that cannot be hashed.
func uniqueFallback(c *Call, items []any) (any, error) {
	if c.Args[0] == false || value.Truth(c.Args[1]) {
		return nil, errors.New("Jinja2's unique filter failed and we cannot fall back to Ansible's version " +
			"as it does not support the parameters supplied")
	}
	return value.NewList(uniqueItems(items)...), nil
}

// lists turns every value into its items.
func lists(values []any) ([][]any, error) {
	out := make([][]any, len(values))
	for i, v := range values {
		items, err := iterate(v)
		if err != nil {
			return nil, err
		}
		out[i] = items
	}
	return out, nil
}

func filterZip(c *Call) (any, error) {
	columns, err := lists(append([]any{c.Value}, c.Rest...))
	if err != nil {
		return nil, err
	}
	n := len(columns[0])
	for _, column := range columns {
		n = min(n, len(column))
	}
	return zipColumns(columns, n, nil), nil
}

func filterZipLongest(c *Call) (any, error) {
	columns, err := lists(append([]any{c.Value}, c.Rest...))
	if err != nil {
		return nil, err
	}
	n := 0
	for _, column := range columns {
		n = max(n, len(column))
	}
	return zipColumns(columns, n, c.Args[len(c.Args)-1]), nil
}

func zipColumns(columns [][]any, n int, fill any) *value.List {
	out := value.NewList()
	for i := range n {
		row := make(value.Tuple, len(columns))
		for j, column := range columns {
			row[j] = fill
			if i < len(column) {
				row[j] = column[i]
			}
		}
		out.Append(row)
	}
	return out
}

func filterProduct(c *Call) (any, error) {
	pools, err := lists(append([]any{c.Value}, c.Rest...))
	if err != nil {
		return nil, err
	}
	repeat, err := wantInt(c.Args[len(c.Args)-1])
	if err != nil {
		return nil, err
	}
	if repeat < 0 {
		return nil, errors.New("repeat argument cannot be negative")
	}
	if repeat > 1000 {
		return nil, errTooMany
	}
	var all [][]any
	for range repeat {
		all = append(all, pools...)
	}
	return product(all)
}

// product returns tuples of one item of each pool, the last one turning fastest.
func product(pools [][]any) (*value.List, error) {
	total := 1
	for _, pool := range pools {
		if len(pool) > 0 && total > maxBuiltinItems/len(pool)/max(len(pools), 1) {
			return nil, errTooMany
		}
		total *= len(pool)
	}
	out := value.NewList()
	at := make([]int, len(pools))
	for range total {
		row := make(value.Tuple, len(pools))
		for i, pool := range pools {
			row[i] = pool[at[i]]
		}
		out.Append(row)
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < len(pools[i]) {
				break
			}
			at[i] = 0
		}
	}
	return out, nil
}

func filterCombinations(c *Call) (any, error) {
	return selections(c, func(n, k int) *big.Int { return new(big.Int).Binomial(int64(n), int64(k)) }, nextCombination)
}

func filterPermutations(c *Call) (any, error) {
	return selections(c, func(n, k int) *big.Int { return new(big.Int).MulRange(int64(n-k+1), int64(n)) }, nextPermutation)
}

// selections lists the choices of k out of n items, in the order of their
// positions; next turns one choice of positions into the following one.
func selections(c *Call, count func(n, k int) *big.Int, next func(at []int, n int) bool) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	n := len(items)
	k, err := optInt(c.Args[0], n)
	switch {
	case err != nil:
		return nil, err
	case k < 0:
		return nil, errors.New("r must be non-negative")
	case k > n:
		return value.NewList(), nil
	case count(n, k).Cmp(big.NewInt(int64(maxBuiltinItems/max(k, 1)))) > 0:
		return nil, errTooMany
	}
	at := make([]int, k)
	for i := range at {
		at[i] = i
	}
	out := value.NewList()
	for more := true; more; more = next(at, n) {
		row := make(value.Tuple, k)
		for i, p := range at {
			row[i] = items[p]
		}
		out.Append(row)
	}
	return out, nil
}

func nextCombination(at []int, n int) bool {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i] < n-len(at)+i {
			at[i]++
			for j := i + 1; j < len(at); j++ {
				at[j] = at[j-1] + 1
			}
			return true
		}
	}
	return false
}

func nextPermutation(at []int, n int) bool {
	used := make([]bool, n)
	for _, p := range at {
		used[p] = true
	}
	for i := len(at) - 1; i >= 0; i-- {
		used[at[i]] = false
		for p := at[i] + 1; p < n; p++ {
			if used[p] {
				continue
			}
			at[i] = p
			used[p] = true
			fillAscending(at[i+1:], used)
			return true
		}
	}
	return false
}

// fillAscending gives the positions that are still free, lowest first.
func fillAscending(at []int, used []bool) {
	p := 0
	for i := range at {
		for used[p] {
			p++
		}
		at[i] = p
		used[p] = true
	}
}
