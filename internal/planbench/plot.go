package planbench

func Plot([]Average) []byte { return nil }
