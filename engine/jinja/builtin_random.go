package jinja

import (
	"errors"
	"fmt"

	"play/modules/value"
)

// randomFilters choose at random, or by a seed.
func randomFilters() []Builtin {
	return []Builtin{
		{Name: "random", Params: "start=None, step=None, seed=None", Doc: "a random item, or a number below this one", Fn: filterRandom},
		{Name: "shuffle", Params: "seed=None", Doc: "the items in random order", Fn: filterShuffle},
	}
}

func filterRandom(c *Call) (any, error) {
	r := newRandom(c.Args[2])
	if _, ok := value.AsInt(c.Value); ok {
		return randomNumber(c, r)
	}
	items, ok := value.Items(c.Value)
	if _, isDict := asDict(c.Value); !ok || isDict {
		return nil, errors.New("random can only be used on sequences and integers")
	}
	if c.Args[0] != nil || c.Args[1] != nil {
		return nil, errors.New("start and step can only be used with integer values")
	}
	if len(items) == 0 {
		return nil, errors.New("Cannot choose from an empty sequence")
	}
	return items[r.below(len(items))], nil
}

// randomNumber is randrange(start, end, step).
func randomNumber(c *Call, r *pyRandom) (any, error) {
	end, err := wantInt(c.Value)
	if err != nil {
		return nil, err
	}
	start, err := randomPart(c.Args[0], 0)
	if err != nil {
		return nil, err
	}
	step, err := randomPart(c.Args[1], 1)
	if err != nil {
		return nil, err
	}
	width, n := end-start, 0
	switch {
	case step == 1:
		n = width
	case step > 0:
		n = (width + step - 1) / step
	case step < 0:
		n = (width + step + 1) / step
	}
	if n <= 0 {
		return nil, fmt.Errorf("empty range for randrange() (%d, %d, %d)", start, end, width)
	}
	return start + step*r.below(n), nil
}

// randomPart reads start or step; a false value means the default.
func randomPart(v any, fallback int) (int, error) {
	if !value.Truth(v) {
		return fallback, nil
	}
	return wantInt(v)
}

func filterShuffle(c *Call) (any, error) {
	l, err := listOf(c.Value)
	if err != nil {
		return c.Value, nil
	}
	newRandom(c.Args[0]).shuffle(l.Items)
	return l, nil
}
