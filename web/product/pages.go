package product

// pages links to other pages: by number, or by cursor while there are no numbers.
func (t *texts) pages(s state, l *list) *pagesView {
	if l.PageCount == nil || l.PageNumber == nil {
		return s.neighbours(l)
	}
	count, current := *l.PageCount, *l.PageNumber
	if count < 2 {
		return nil
	}
	v := &pagesView{}
	if current > 1 {
		v.Previous = s.at(min(current-1, count)).href()
	}
	if current < count {
		v.Next = s.at(current + 1).href()
	}
	last := 0
	for _, n := range numbersAround(current, count) {
		gap := n > last+1
		v.Numbers = append(v.Numbers, numberView{s.at(n).href(), t.number(n), n == current, gap})
		if last = n; gap {
			v.Jump = &jumpView{s.path(), s.hidden(), min(current, count), count}
		}
	}
	return v
}

// neighbours links to the pages beside this one by cursors.
func (s state) neighbours(l *list) *pagesView {
	v := &pagesView{}
	if info := l.PageInfo; info.HasPreviousPage && info.StartCursor != nil {
		v.Previous = s.before(*info.StartCursor).href()
	}
	if info := l.PageInfo; info.HasNextPage && info.EndCursor != nil {
		v.Next = s.after(*info.EndCursor).href()
	}
	if v.Previous == "" && v.Next == "" {
		return nil
	}
	return v
}

// numbersAround are the pages to link to: the first, those around the current one, and the last.
func numbersAround(current, count int) []int {
	const around = 2
	numbers := []int{1}
	for n := max(2, current-around); n <= min(count, current+around); n++ {
		numbers = append(numbers, n)
	}
	if numbers[len(numbers)-1] < count {
		numbers = append(numbers, count)
	}
	return numbers
}
