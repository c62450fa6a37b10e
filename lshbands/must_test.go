package lshbands

// must returns what a constructor has made of arguments that are right. It panics if they are not.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}
