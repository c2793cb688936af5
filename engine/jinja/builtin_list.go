package jinja

import "slices"

// filterBuiltins are the standard filters, by subject.
func filterBuiltins() []Builtin {
	return slices.Concat(
		commentFilters(),
		communityFilters(),
		defaultFilters(),
		dictFilters(),
		encodeFilters(),
		hashFilters(),
		humanFilters(),
		hwaddrFilters(),
		iniFilters(),
		ipFilters(),
		ipMathFilters(),
		jsonFilters(),
		keyFilters(),
		mapFilters(),
		numberFilters(),
		passwordFilters(),
		pathFilters(),
		randomFilters(),
		regexFilters(),
		seqFilters(),
		setFilters(),
		textFilters(),
		timeFilters(),
		timeUnitFilters(),
		urlFilters(),
		vaultFilters(),
		yamlFilters(),
	)
}

// testBuiltins are the standard tests, by subject.
func testBuiltins() []Builtin {
	return slices.Concat(
		compareTests(),
		fileTests(),
		ipTests(),
		logicTests(),
		regexTests(),
		resultTests(),
		typeTests(),
		uriTests(),
		versionTests(),
	)
}

// globalBuiltins are the global functions.
func globalBuiltins() []Builtin { return globalFunctions() }

// lookupBuiltins are the lookups, by subject.
func lookupBuiltins() []Builtin {
	return slices.Concat(
		fileLookups(),
		listLookups(),
		secretLookups(),
		tableLookups(),
		urlLookups(),
		varLookups(),
	)
}
