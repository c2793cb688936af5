package strategy

import "sync"

// fanOut calls work for every host, at most width at a time, and hands each
// result to done on the caller's goroutine as soon as it is there. It returns
// when all hosts are through.
func fanOut[T any](hosts []string, width int, work func(host string) T, done func(T)) {
	width = max(1, min(width, len(hosts)))
	if width == 1 {
		for _, h := range hosts {
			done(work(h)) // each is told of before the next begins
		}
		return
	}
	todo := make(chan string)
	results := make(chan T, width)
	var workers sync.WaitGroup
	for range width {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for h := range todo {
				results <- work(h)
			}
		}()
	}
	go func() {
		for _, h := range hosts {
			todo <- h
		}
		close(todo)
		workers.Wait()
		close(results)
	}()
	for res := range results {
		done(res)
	}
}
