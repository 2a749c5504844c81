module programs/jobset

go 1.26.0
